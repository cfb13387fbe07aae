//! Reads where a server says it listens, in any wording: a URL, `host:port`, or `port 8080`.

/// The ports of this machine that a line names, in their order.
///
/// Other hosts are left out: a server also prints where its database is.
pub fn ports(line: &str) -> Vec<u16> {
    let line = lab_system::without_colours(line);
    let is_border =
        |character: char| character.is_whitespace() || "\"'`,;()<>=|{}".contains(character);
    let words = line.split(is_border).map(|word| word.trim_end_matches(['.', ':', '!']));
    let mut found = Vec::new();
    let mut after_port = false;
    for word in words.filter(|word| !word.is_empty()) {
        found.extend(if after_port { word.parse().ok() } else { port(word) });
        after_port = word.eq_ignore_ascii_case("port");
    }
    found
}

/// The port in a URL or a `host:port`, if it is on this machine.
fn port(word: &str) -> Option<u16> {
    let (scheme, rest) = word.split_once("://").unwrap_or(("", word));
    let (host, port) = rest.split('/').next()?.rsplit_once(':')?;
    // The debugger of Node listens on `ws://`.
    (is_here(host) && scheme != "ws").then(|| port.parse().ok()).flatten()
}

/// Whether a host is this machine, or stands for all its addresses.
fn is_here(host: &str) -> bool {
    let is_ours = |ip: std::net::IpAddr| ip.is_loopback() || ip.is_unspecified();
    ["", "*", "localhost"].contains(&host)
        || host.trim_matches(['[', ']']).parse().is_ok_and(is_ours)
}

#[cfg(test)]
mod tests {
    use super::ports;

    #[test]
    fn a_port_is_found_in_any_wording() {
        for (line, found) in [
            ("Started server at localhost:8080", 8080),
            ("INFO listening on 0.0.0.0:3000.", 3000),
            ("=> http server started on [::]:1323", 1323),
            ("Server running at HTTP://127.0.0.1:3000/docs?x=1", 3000),
            ("\u{1b}[32m➜\u{1b}[0m  Local: http://localhost:\u{1b}[1m5173\u{1b}[22m/", 5173),
            ("level=info addr=:9000 msg=up", 9000),
            ("Tomcat started on Port 8081 (http)", 8081),
        ] {
            assert_eq!(ports(line), [found], "{line}");
        }
    }

    #[test]
    fn other_hosts_times_and_places_in_code_are_no_announcement() {
        for line in [
            "connected to postgres://db.internal:5432/app",
            "upstream is http://10.0.0.7:8080",
            "Debugger listening on ws://127.0.0.1:9229/6fd3",
            "10:48:26 [main.rs:80] ready after 17:05",
            "listening on port zero, :99999",
        ] {
            assert_eq!(ports(line), [0; 0], "{line}");
        }
    }
}
