//! What two builds differ in besides their code: in one line, and as a table.

use lab_protocol::{BesidesCode, BuildAspect, BuildDifference};

use crate::{CaseRecord, NONE_OF_IT, Table, plural, significant, thousands};

/// The columns of the line: a paragraph of 80 columns is indented by two.
const WIDTH: usize = 78;
/// The longest item of the line, such as a row of flags, in characters.
const LONGEST_ITEM: usize = 44;

/// What a candidate's build differs in from the baseline's, besides its code.
#[derive(Clone, Debug, PartialEq)]
pub struct BesidesAnswer {
    /// The candidate's name where there are several; else empty.
    pub candidate: String,
    /// The line of the screen, with as much as it has room for.
    pub line: String,
    /// Everything.
    pub table: Table,
}

/// The items of one aspect, of which the line shows the first ones.
struct AspectItems {
    /// What one of them is, and several.
    nouns: [&'static str; 2],
    items: Vec<String>,
    /// How many of them may be shown.
    most: usize,
    shown: usize,
}

impl BesidesAnswer {
    /// One for each candidate whose build differs. The benchmarks of a bench have the same candidates.
    pub(super) fn of(cases: &[CaseRecord]) -> Vec<Self> {
        let mut candidates: Vec<(&str, &str, &BesidesCode)> = Vec::new();
        for case in cases {
            if let Some((baseline, candidate)) = case.sides()
                && candidates.iter().all(|(_, name, _)| *name != candidate.variant)
            {
                candidates.push((&baseline.variant, &candidate.variant, &candidate.besides));
            }
        }
        let is_one = candidates.len() == 1;
        // A few bytes of size have no words.
        let differs = candidates
            .into_iter()
            .filter(|(.., besides)| !in_groups(&besides.differences).is_empty());
        differs
            .map(|(baseline, candidate, besides)| {
                let table = table([baseline, candidate], besides);
                let candidate = if is_one { "" } else { candidate }.to_owned();
                Self { line: line(&candidate, besides), table, candidate }
            })
            .collect()
    }
}

/// `only Cargo.lock differs: tokio 1.50.0 → 1.52.1 and 2 more crates`
fn line(candidate: &str, besides: &BesidesCode) -> String {
    let name = if candidate.is_empty() { String::new() } else { format!("{candidate}: ") };
    let mut all = in_groups(&besides.differences);
    let start = format!("{name}{}: ", lead(besides));
    let text = |all: &[AspectItems]| {
        start.clone() + &all.iter().map(AspectItems::text).collect::<Vec<_>>().join("; ")
    };
    let fits = |all: &[AspectItems]| text(all).chars().count() <= WIDTH;
    // Something of everything goes before more of the first.
    for most in [1, usize::MAX] {
        for nth in 0..all.len() {
            while all[nth].shown < all[nth].most.min(most) {
                all[nth].shown += 1;
                if !fits(&all) {
                    all[nth].shown -= 1;
                    break;
                }
            }
        }
    }
    if fits(&all) {
        return text(&all);
    }
    text(&all).chars().take(WIDTH - 1).chain(['…']).collect()
}

fn lead(besides: &BesidesCode) -> &'static str {
    if !besides.is_all {
        return "besides code";
    }
    let of_lock_file = |aspect| match aspect {
        BuildAspect::UnusedCrate => BuildAspect::Crate,
        aspect => aspect,
    };
    let mut aspects: Vec<_> =
        besides.differences.iter().map(|it| of_lock_file(it.aspect)).collect();
    aspects.dedup();
    aspects.sort();
    aspects.dedup();
    match aspects[..] {
        [BuildAspect::Crate] => "only Cargo.lock differs",
        [BuildAspect::Toolchain] => "only the compiler differs",
        [BuildAspect::Profile] => "only the profile differs",
        [BuildAspect::Features] => "only features differ",
        [BuildAspect::Flags] => "only the compiler's flags differ",
        [BuildAspect::Environment] => "only the environment differs",
        [BuildAspect::Setting] => "only cargo's settings differ",
        _ => "only the build differs",
    }
}

fn in_groups(differences: &[BuildDifference]) -> Vec<AspectItems> {
    let mut groups = Vec::new();
    for differences in differences.chunk_by(|one, other| one.aspect == other.aspect) {
        let items: Vec<_> = differences.iter().flat_map(difference_in_words).collect();
        if let Some(BuildDifference { aspect, .. }) = differences.first()
            && !items.is_empty()
        {
            // Crates that no build uses are only counted.
            let most = if *aspect == BuildAspect::UnusedCrate { 0 } else { items.len() };
            groups.push(AspectItems { nouns: nouns(*aspect), items, most, shown: 0 });
        }
    }
    groups
}

fn nouns(aspect: BuildAspect) -> [&'static str; 2] {
    match aspect {
        BuildAspect::Crate => ["crate", "crates"],
        BuildAspect::UnusedCrate => {
            ["crate that neither build uses", "crates that neither build uses"]
        }
        BuildAspect::Toolchain => ["compiler", "compilers"],
        BuildAspect::Profile => ["key of the profile", "keys of the profile"],
        BuildAspect::Features => ["feature", "features"],
        BuildAspect::Flags => ["row of flags", "rows of flags"],
        BuildAspect::Environment => ["variable", "variables"],
        BuildAspect::Setting => ["setting of cargo", "settings of cargo"],
        BuildAspect::Allocator => ["allocator", "allocators"],
        BuildAspect::Size => ["size", "sizes"],
        BuildAspect::Library => ["library", "libraries"],
    }
}

impl AspectItems {
    fn text(&self) -> String {
        let count = |count: usize, more: &str| {
            format!("{count}{more} {}", self.nouns[usize::from(count != 1)])
        };
        let (shown, rest) = self.items.split_at(self.shown);
        match (shown, rest.len()) {
            ([], rest) => count(rest, ""),
            (shown, 0) => shown.join(", "),
            (shown, rest) => format!("{} and {}", shown.join(", "), count(rest, " more")),
        }
    }
}

/// A difference in words: `tokio 1.50.0 → 1.52.1`. Features are several items.
pub(crate) fn difference_in_words(difference: &BuildDifference) -> Vec<String> {
    let BuildDifference { aspect, name, from, to } = difference;
    let changed = |name: &str, separator: &str| {
        let [from, to] = [from, to].map(|list| in_a_list(list, separator));
        vec![cut(&format!("{name} {from} → {to}"))]
    };
    match (aspect, &from[..], &to[..]) {
        (BuildAspect::Features, ..) => {
            let each = |list: &[String], what: &str| {
                let item = |feature: &String| cut(&format!("{name}/{feature} {what}"));
                list.iter().map(item).collect::<Vec<_>>()
            };
            each(from, "removed").into_iter().chain(each(to, "added")).collect()
        }
        (BuildAspect::Library, [], _) => vec![cut(&format!("{name} added"))],
        (BuildAspect::Library, ..) => vec![cut(&format!("{name} removed"))],
        (BuildAspect::Crate, [], to) => vec![cut(&format!("{name} {} added", to.join(", ")))],
        (BuildAspect::Crate, from, []) => vec![cut(&format!("{name} {} removed", from.join(", ")))],
        (BuildAspect::Size, [from], [to]) => size([from, to]),
        (BuildAspect::Toolchain, [from], [to]) => {
            // The commit and its day matter where the versions are equal.
            let [short_from, short_to] =
                [from, to].map(|version| version.split(' ').next().unwrap_or_default());
            let is_apart = short_from != short_to;
            let [from, to] = if is_apart { [short_from, short_to] } else { [&**from, &**to] };
            vec![format!("{name} {from} → {to}")]
        }
        // The table says for which target they are.
        (BuildAspect::Flags, ..) => changed("rustflags", " "),
        (BuildAspect::Environment, ..) => changed(&format!("variable {name}"), ", "),
        _ => changed(name, ", "),
    }
}

/// Sizes that look different.
fn size([from, to]: [&String; 2]) -> Vec<String> {
    let [Ok(from), Ok(to)] = [from, to].map(|bytes| bytes.parse::<f64>()) else {
        return Vec::new();
    };
    let (unit, name) = if from.max(to) < 1e6 { (1024.0, "KiB") } else { (1_048_576.0, "MiB") };
    let [from, to] = [from, to].map(|bytes| significant(bytes / unit));
    if from == to { Vec::new() } else { vec![format!("size {from} → {to} {name}")] }
}

fn in_a_list(words: &[String], separator: &str) -> String {
    if words.is_empty() { NONE_OF_IT.to_owned() } else { words.join(separator) }
}

fn cut(item: &str) -> String {
    match item.char_indices().nth(LONGEST_ITEM) {
        None => item.to_owned(),
        Some((end, _)) => format!("{}…", &item[..end]),
    }
}

/// Every difference in a row.
fn table([baseline, candidate]: [&str; 2], besides: &BesidesCode) -> Table {
    let caption =
        if besides.is_all { "No source file differs between the two revisions." } else { "" };
    let row = |difference: &BuildDifference| {
        let BuildDifference { aspect, name, from, to } = difference;
        let label = match aspect {
            BuildAspect::Crate => format!("crate {name}"),
            BuildAspect::UnusedCrate => format!("crate {name}, in neither build"),
            BuildAspect::Features => format!("features of {name} on one side only"),
            BuildAspect::Profile => format!("profile: {name}"),
            BuildAspect::Environment => format!("variable {name}"),
            BuildAspect::Size => "size in bytes".to_owned(),
            _ => name.clone(),
        };
        let separator = if *aspect == BuildAspect::Flags { " " } else { ", " };
        let cell = |list: &Vec<String>| match (aspect, &list[..]) {
            (BuildAspect::Size, [bytes]) => {
                bytes.parse().map_or(bytes.clone(), |bytes: f64| thousands(bytes))
            }
            (BuildAspect::Library, [_]) => "loaded".to_owned(),
            _ => in_a_list(list, separator),
        };
        vec![label, cell(from), cell(to)]
    };
    let rows = besides.differences.iter().map(row);
    let head = ["besides code", baseline, candidate];
    Table { lead: None, ..Table::new(caption, head, rows) }
}

impl BesidesAnswer {
    /// The line above a fold with the table: `Besides the code of next: 31 differences`
    pub fn summary(&self) -> String {
        let of = match &*self.candidate {
            "" => String::new(),
            candidate => format!(" of {candidate}"),
        };
        format!("Besides the code{of}: {}", plural(self.table.rows.len(), "difference"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(aspect: BuildAspect, name: &str, from: &str, to: &str) -> BuildDifference {
        let list = |words: &str| words.split_whitespace().map(str::to_owned).collect();
        BuildDifference { aspect, name: name.to_owned(), from: list(from), to: list(to) }
    }

    fn besides(is_all: bool, differences: Vec<BuildDifference>) -> BesidesCode {
        BesidesCode { is_all, differences }
    }

    fn crates(count: usize) -> Vec<BuildDifference> {
        let one = |nth: usize| {
            difference(BuildAspect::Crate, &format!("crate-{nth}"), "1.50.0", "1.52.1")
        };
        (1..=count).map(one).collect()
    }

    #[test]
    fn the_line_says_that_only_this_differs_and_counts_what_it_has_no_room_for() {
        let of = |count: usize| line("", &besides(true, crates(count)));
        assert_eq!(of(1), "only Cargo.lock differs: crate-1 1.50.0 → 1.52.1");
        assert_eq!(of(31), "only Cargo.lock differs: crate-1 1.50.0 → 1.52.1 and 30 more crates");
        let named = line("next", &besides(false, crates(2)));
        assert_eq!(named, "next: besides code: crate-1 1.50.0 → 1.52.1, crate-2 1.50.0 → 1.52.1");
    }

    #[test]
    fn something_of_every_aspect_is_on_the_line() {
        let mut all = crates(40);
        all.push(difference(BuildAspect::Profile, "lto", "false", "fat"));
        all.push(difference(BuildAspect::Features, "tokio", "", "full net"));
        let shown = line("", &besides(true, all.clone()));
        assert_eq!(shown, "only the build differs: 40 crates; lto false → fat; 2 features");
        for aspect in [
            BuildAspect::Toolchain,
            BuildAspect::Flags,
            BuildAspect::Environment,
            BuildAspect::Setting,
            BuildAspect::UnusedCrate,
        ] {
            all.push(difference(aspect, &"long".repeat(30), "", &"x".repeat(200)));
            let shown = line("a-long-name", &besides(false, all.clone()));
            assert!(shown.chars().count() <= WIDTH, "{shown}");
        }
    }

    #[test]
    fn every_kind_of_difference_has_its_words() {
        use BuildAspect::{
            Allocator, Crate, Environment, Features, Flags, Library, Profile, Size, Toolchain,
            UnusedCrate,
        };
        let of = |aspect, name: &str, from: &str, to: &str| {
            line("", &besides(false, vec![difference(aspect, name, from, to)]))
        };
        let expected = |said: &str| format!("besides code: {said}");
        assert_eq!(of(Crate, "a", "", "1.0.0"), expected("a 1.0.0 added"));
        assert_eq!(of(Crate, "a", "0.9.0 1.0.0", ""), expected("a 0.9.0, 1.0.0 removed"));
        assert_eq!(of(UnusedCrate, "a", "1", "2"), expected("1 crate that neither build uses"));
        assert_eq!(of(Profile, "strip", "", "symbols"), expected("strip none → symbols"));
        assert_eq!(of(Features, "a", "x", "y"), expected("a/x removed, a/y added"));
        assert_eq!(of(Flags, "build.rustflags", "", "-C x"), expected("rustflags none → -C x"));
        assert_eq!(of(Environment, "A", "1", "2"), expected("variable A 1 → 2"));
        assert_eq!(of(Allocator, "allocator", "glibc", "musl"), expected("allocator glibc → musl"));
        assert_eq!(of(Library, "libz.so.1", "", "libz.so.1"), expected("libz.so.1 added"));
        assert_eq!(of(Size, "bytes", "1300000", "4000000"), expected("size 1.24 → 3.81 MiB"));
        let rustc = |from: &str, to: &str| BuildDifference {
            from: vec![from.to_owned()],
            to: vec![to.to_owned()],
            ..difference(Toolchain, "rustc", "", "")
        };
        let of = |from: &str, to: &str| line("", &besides(false, vec![rustc(from, to)]));
        assert_eq!(of("1.94.0 (a 2026)", "1.95.0 (b 2026)"), expected("rustc 1.94.0 → 1.95.0"));
        assert_eq!(of("1.95.0 (a)", "1.95.0 (b)"), expected("rustc 1.95.0 (a) → 1.95.0 (b)"));
    }

    #[test]
    fn the_table_has_everything_and_no_difference_has_neither_line_nor_table() {
        let mut case = CaseRecord::default();
        for name in ["baseline", "candidate"] {
            case.variants
                .push(crate::VariantRecord { variant: name.to_owned(), ..Default::default() });
        }
        case.candidate = "candidate".to_owned();
        assert_eq!(BesidesAnswer::of(std::slice::from_ref(&case)), []);
        let few_bytes = difference(BuildAspect::Size, "bytes", "3808720", "3808016");
        case.variants[1].besides = besides(false, vec![few_bytes]);
        assert_eq!(BesidesAnswer::of(std::slice::from_ref(&case)), []);
        case.variants[1].besides = besides(true, crates(31));
        // Two benchmarks of one candidate.
        let [answer] = &BesidesAnswer::of(&[case.clone(), case])[..] else { panic!("one answer") };
        assert_eq!(answer.table.rows.len(), 31);
        assert_eq!(answer.summary(), "Besides the code: 31 differences");
    }
}
