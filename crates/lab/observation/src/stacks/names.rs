//! Symbols as a reader wants them: `String::clone` instead of a mangled path with hash and generics.

mod foreign;
mod path;

use std::fmt;

pub use path::Path;

/// What a symbol names, without hash, generics, modules and closures.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Name {
    Rust(Path),
    /// The drop of a value and everything it owns: its type.
    Drop(Path),
    /// A function of C, of the kernel, or of another language; or an address.
    C(String),
}

impl Name {
    /// Takes a mangled name (legacy or v0) or one that the profiler has demangled. The mark `_[k]`
    /// of a kernel frame is dropped.
    pub fn of(symbol: &str) -> Self {
        let symbol = symbol.strip_suffix("_[k]").unwrap_or(symbol).trim();
        if let Some(name) = foreign::short(symbol) {
            return Self::C(name);
        }
        // Linkers append `.llvm.123`, which the demangler keeps.
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
        Self::C(plain(demangled))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rust(path) => path.fmt(f),
            Self::Drop(path) => write!(f, "drop {path}"),
            Self::C(name) => f.write_str(name),
        }
    }
}

/// A C function without what the C library and the compiler add to its name:
/// `cfree@GLIBC_2.2.5` is `free`, `__GI___writev` is `writev`, `__memmove_avx512_unaligned_erms` is
/// `memmove`.
fn plain(symbol: &str) -> String {
    let name = symbol.split('@').next().unwrap_or(symbol);
    // The compiler copies a function for one argument or for its cold half: `f.constprop.0`.
    let name = match name.find('.') {
        // `[libc.so.6]` is a library whose function has no name.
        Some(end) if end > 0 && !name.starts_with('[') => &name[..end],
        _ => name,
    };
    if name == "cfree" {
        return "free".to_owned();
    }
    // `samply` drops one of the two underscores of the C library's own names.
    let Some(bare) = name.strip_prefix('_').map(|name| name.strip_prefix('_').unwrap_or(name))
    else {
        return name.to_owned();
    };
    // The C library has one copy of these functions for each kind of processor.
    if let Some((function, variant)) = bare.split_once('_')
        && ["mem", "str", "wcs", "wmem"].iter().any(|kind| function.starts_with(kind))
        && ["avx", "sse", "evex", "erms", "ssse"].iter().any(|isa| variant.starts_with(isa))
    {
        return function.to_owned();
    }
    // The names under which the C library calls its own functions.
    for prefix in ["GI___libc_", "GI___", "GI_", "libc_"] {
        if let Some(name) = bare.strip_prefix(prefix)
            && !name.starts_with("start")
        {
            return name.to_owned();
        }
    }
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::Name;

    /// Names from recordings of the cases' servers, and a few made-up ones, and how they should read.
    const NAMES: &str = include_str!("../../tests/fixtures/names.txt");

    #[test]
    fn names_shrink_to_type_and_function() {
        for line in NAMES.lines() {
            let (symbol, name) = line.split_once(" => ").unwrap_or((line, line));
            assert_eq!(Name::of(symbol).to_string(), name, "from {symbol}");
        }
    }
}
