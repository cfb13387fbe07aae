//! One page of 19 resources that are 368,000 bytes in total, as on the article's site.

use bytes::Bytes;

/// One file that a browser loads.
#[derive(Clone, Debug)]
pub struct Resource {
    pub path: &'static str,
    pub content_type: &'static str,
    pub body: Bytes,
}

/// Paths and sizes in bytes, the page first.
const SIZES: [(&str, usize); 19] = [
    ("/", 14_000),
    ("/css/core.css", 22_000),
    ("/css/print.css", 4_000),
    ("/js/vendor.js", 86_000),
    ("/js/app.js", 46_000),
    ("/js/search.js", 12_000),
    ("/fonts/regular.woff2", 28_000),
    ("/fonts/bold.woff2", 28_000),
    ("/fonts/code.woff2", 18_000),
    ("/images/logo.svg", 4_000),
    ("/images/hero.svg", 38_000),
    ("/images/shot-1.svg", 8_500),
    ("/images/shot-2.svg", 8_500),
    ("/images/shot-3.svg", 8_500),
    ("/images/shot-4.svg", 8_500),
    ("/images/shot-5.svg", 8_500),
    ("/images/shot-6.svg", 8_500),
    ("/images/shot-7.svg", 8_500),
    ("/images/shot-8.svg", 8_500),
];

/// The whole site, the page first. A resource is filled with its own path: its size matters, and that
/// no two resources are alike, but not its content.
pub fn resources() -> Vec<Resource> {
    let resource = |(path, size): (&'static str, usize)| {
        let content_type = match path.rsplit_once('.') {
            None => "text/html; charset=utf-8",
            Some((_, "css")) => "text/css; charset=utf-8",
            Some((_, "js")) => "text/javascript; charset=utf-8",
            Some((_, "svg")) => "image/svg+xml",
            Some(_) => "font/woff2",
        };
        let body = format!("{path}\n").bytes().cycle().take(size).collect();
        Resource { path, content_type, body }
    };
    SIZES.map(resource).into()
}
