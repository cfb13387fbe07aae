//! One page of 19 resources that weigh 368,000 bytes together, as the article's site did: the same
//! bytes on every machine and in every run, because a benchmark checks its answers.

mod text;

use bytes::Bytes;

/// One thing that a browser loads.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Its path on the site.
    pub path: &'static str,
    /// Its media type.
    pub content_type: &'static str,
    /// Its content.
    pub body: Bytes,
}

/// Path and weight in bytes, the page first. The page refers to all others.
const WEIGHTS: [(&str, usize); 19] = [
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

/// The whole site, the page first.
pub fn resources() -> Vec<Resource> {
    let others: Vec<&str> = WEIGHTS[1..].iter().map(|(path, _)| *path).collect();
    (1..)
        .zip(WEIGHTS)
        .map(|(seed, (path, weight))| {
            let extension = path.rsplit_once('.').map_or("html", |(_, extension)| extension);
            let (content_type, body) = match extension {
                "html" => ("text/html; charset=utf-8", text::html(&others, seed, weight)),
                "css" => ("text/css; charset=utf-8", text::css(seed, weight)),
                "js" => ("text/javascript; charset=utf-8", text::js(seed, weight)),
                "svg" => ("image/svg+xml", text::svg(seed, weight)),
                _ => ("font/woff2", Numbers(seed).bytes(weight)),
            };
            Resource { path, content_type, body: body.into() }
        })
        .collect()
}

/// SplitMix64: numbers that look random and are the same everywhere.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `end`, which is not among them.
    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Bytes that cannot be compressed, like those of a font.
    fn bytes(&mut self, weight: usize) -> Vec<u8> {
        std::iter::repeat_with(|| self.next().to_le_bytes()).flatten().take(weight).collect()
    }
}
