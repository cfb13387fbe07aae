//! Symbols as a reader wants them: `String::clone` instead of a mangled path with hash and generics.

mod c;
mod path;

pub(super) use path::Path;

/// The symbol's name without hash, generics, modules and closures: `Type::method` or `function`,
/// with its crate in front unless that is the standard library. C names lose their version.
///
/// Takes a mangled name (legacy or v0) as well as one that a profiler demangled already. The mark
/// `_[k]` of a kernel frame goes too.
pub fn readable(symbol: &str) -> String {
    Name::of(symbol).to_string()
}

/// What a symbol names.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Name {
    /// A function of Rust.
    Rust(Path),
    /// The end of a value, with all that it owns: its type.
    Drop(Path),
    /// A function of C, or of the kernel, or an address.
    C(String),
}

impl Name {
    pub fn of(symbol: &str) -> Self {
        let symbol = symbol.strip_suffix("_[k]").unwrap_or(symbol).trim();
        // perf appends nothing, but linkers do: `.llvm.123`, which the demangler leaves there.
        let demangled = format!("{:#}", rustc_demangle::demangle(symbol));
        let demangled = demangled.split(".llvm.").next().unwrap_or_default();
        if let Some(dropped) = demangled.strip_prefix("core::ptr::drop_in_place") {
            let dropped = dropped.strip_prefix("::").unwrap_or(dropped);
            let of = dropped.strip_prefix('<').and_then(|of| of.strip_suffix('>'));
            return Self::Drop(Path::of_type(of.unwrap_or("value")));
        }
        if demangled.contains("::") {
            return Self::Rust(Path::of_function(demangled));
        }
        Self::C(c::plain(demangled))
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rust(path) => path.fmt(f),
            Self::Drop(path) => write!(f, "drop {path}"),
            Self::C(name) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::readable;

    /// Names from a recording of the cases' servers, and what becomes of them.
    const NAMES: &str = include_str!("../../../tests/fixtures/flame/names.txt");

    #[test]
    fn recorded_names_are_short_and_tell_type_and_function() {
        for line in NAMES.lines() {
            let (symbol, name) = line.split_once(" => ").unwrap();
            assert_eq!(readable(symbol), name, "from {symbol}");
        }
    }

    #[test]
    fn what_is_readable_already_stays() {
        for name in ["main", "malloc", "[libc.so.6]", "bson::Document::clone", "String::clone"] {
            assert_eq!(readable(name), name);
        }
    }
}
