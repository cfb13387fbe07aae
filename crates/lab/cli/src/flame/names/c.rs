//! Names of C functions, without what the C library and the compiler add to them.

/// `cfree@GLIBC_2.2.5` is `free`, `__GI___writev` is `writev`, `__memmove_avx512_unaligned_erms` is
/// `memmove`.
pub fn plain(symbol: &str) -> String {
    let name = symbol.split('@').next().unwrap_or(symbol);
    // Copies that the compiler made of a function, for one argument or for its cold half.
    let name = match name.find('.') {
        // `[libc.so.6]` is a library whose function has no name.
        Some(end) if end > 0 && !name.starts_with('[') => &name[..end],
        _ => name,
    };
    if name == "cfree" {
        return "free".to_owned();
    }
    // One function of these is there for each kind of processor.
    if let Some(bare) = name.strip_prefix("__")
        && let Some((function, variant)) = bare.split_once('_')
        && ["mem", "str", "wcs", "wmem"].iter().any(|kind| function.starts_with(kind))
        && ["avx", "sse", "evex", "erms", "ssse"].iter().any(|isa| variant.starts_with(isa))
    {
        return function.to_owned();
    }
    // The names under which the C library calls itself.
    for prefix in ["__GI___libc_", "__GI___", "__GI_", "__libc_"] {
        if let Some(name) = name.strip_prefix(prefix)
            && !name.starts_with("start")
        {
            return name.to_owned();
        }
    }
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn the_libraries_own_prefixes_and_versions_go() {
        assert_eq!(plain("cfree@GLIBC_2.2.5"), "free");
        assert_eq!(plain("__GI___libc_open"), "open");
        assert_eq!(plain("__GI___writev"), "writev");
        assert_eq!(plain("__libc_recv"), "recv");
        assert_eq!(plain("__memmove_avx512_unaligned_erms"), "memmove");
        assert_eq!(plain("unlink_chunk.constprop.0"), "unlink_chunk");
    }

    #[test]
    fn what_tells_something_stays() {
        for name in
            ["_int_malloc", "__libc_start_main", "__madvise", "epoll_wait", ".text", "[libc.so.6]"]
        {
            assert_eq!(plain(name), name);
        }
    }
}
