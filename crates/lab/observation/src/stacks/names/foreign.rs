//! Functions of Go, of JavaScript in V8 and of Java, as their programmers write them.

/// What the C compiler appends to the copies of a function: `f.constprop.0`, `f.cold`.
const COPIES: [&str; 7] = ["clone", "cold", "constprop", "isra", "localalias", "lto_priv", "part"];

/// The short name of such a function; `None` for any other symbol.
pub fn short(symbol: &str) -> Option<String> {
    javascript(symbol).or_else(|| java(symbol)).or_else(|| go(symbol))
}

/// `JS:*handler /srv/server.js:12:3` is `handler server.js:12`. The mark says how V8 runs the
/// function, which changes while it warms up.
fn javascript(symbol: &str) -> Option<String> {
    let rest = symbol.strip_prefix("JS:")?.trim_start_matches(['*', '~', '^', '+']);
    let start = [" /", " node:", " file:"].iter().filter_map(|start| rest.find(start)).min()?;
    let (place, _column) = rest[start + 1..].rsplit_once(':')?;
    // `node:internal/url` is a module of Node's own.
    let file = if place.starts_with("node:") { place } else { place.rsplit('/').next()? };
    let name = if start == 0 { "(anonymous)" } else { &rest[..start] };
    Some(format!("{name} {file}"))
}

/// `int com.example.Main.handle(int)` is `Main::handle`.
fn java(symbol: &str) -> Option<String> {
    let (head, _) = symbol.strip_suffix(')')?.split_once('(')?;
    let (class, method) = head.rsplit_once(' ')?.1.rsplit_once('.')?;
    // A lambda's class ends in an address: `Main$$Lambda$14/0x0000000800c03000`.
    let class = class.split("/0x").next()?.rsplit('.').next()?;
    let is_plain = |name: &str| !name.contains([':', '&', '[']);
    (is_plain(class) && is_plain(method)).then(|| format!("{class}::{method}"))
}

/// `encoding/json.(*decodeState).object` is `json.(*decodeState).object`: the path of the package
/// and the types of generics are dropped.
fn go(symbol: &str) -> Option<String> {
    let (before, rest) = symbol.split_once('[').unwrap_or((symbol, "]"));
    let name = format!("{before}{}", rest.rsplit_once(']')?.1);
    // The package's path ends before any type; that of a type in brackets is gone.
    let head = name.split('(').next()?;
    let name = &name[head.rfind('/').map_or(0, |slash| slash + 1)..];
    let (package, function) = name.split_once('.')?;
    let is_package = package.starts_with(|it: char| it.is_ascii_lowercase())
        && package.chars().all(|it| it.is_ascii_alphanumeric() || "_-%".contains(it));
    let first = function.split('.').next()?;
    let is_function = function.starts_with(|it: char| it.is_alphabetic() || "(_".contains(it))
        && !COPIES.contains(&first)
        && !name.contains([' ', ':', '@', '<']);
    // A calling convention.
    let function = function.trim_end_matches(".abi0");
    (is_package && is_function).then(|| format!("{}.{function}", package.replace("%2e", ".")))
}
