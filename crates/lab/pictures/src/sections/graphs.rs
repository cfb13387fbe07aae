//! Flame graphs of all servers on one scale: CPU time, allocated bytes, and waits.

use lab_observation::{
    Folded, KeptStack, Observation, Observations, Row, Topic, Unit, top, top_inclusive,
};
use lab_report::{Table, thousands};

use super::{
    super::{
        frames::Drawing,
        graph::{self, GraphKind},
        page::{Picture, Section},
        waits::Waits,
    },
    NAMED, StandardGraph,
    words::{busy, share, time},
};

struct GraphSide<'a> {
    server: &'a str,
    stacks: &'a Folded,
    notes: Vec<String>,
    caption: String,
    table: Table,
    standard: Option<StandardGraph>,
}

/// The graphs of all servers that have any stacks.
fn section(kind: GraphKind, heading: &str, lead: String, sides: Vec<GraphSide>) -> Section {
    let [picture, stem] = match kind {
        GraphKind::Cpu => ["", ".per-request"],
        GraphKind::Waits => [".waits"; 2],
        GraphKind::Allocations => [".allocations"; 2],
    };
    let mut section = Section::new(heading, lead);
    let scale = sides.iter().map(|side| side.stacks.total()).max().unwrap_or(0);
    for GraphSide { server, stacks, notes, caption, table, standard } in sides {
        if stacks.is_empty() {
            continue;
        }
        let Drawing { svg, height } = graph::draw(kind, server, notes, stacks, scale);
        let (name, height) = (format!("{server}{picture}.svg"), Some(height));
        section.pictures.push(Picture { name, caption, svg, height, standard });
        section.tables.push(table);
        section.files.push((format!("{server}{stem}.folded"), stacks.to_string()));
    }
    section
}

/// Where CPU time goes. Without a profiler, only how much there is. `standard` has each server's
/// standard flame graph.
pub fn cpu(
    topic: &Topic,
    all: &Observations,
    standard: &[Option<StandardGraph>],
) -> Option<Section> {
    let Some(stacks) = all.cpu(&topic.view) else { return cpu_total(all) };
    let instrumented =
        topic.instrumented.then(|| "instrumented build, slower than timed".to_owned());
    let sides = all.servers.iter().zip(&stacks).zip(standard);
    let sides = sides.map(|((observation, stacks), standard)| {
        let server = &observation.name;
        // A case's stacks start at its own functions, and what those call is the lesson. Yours start
        // at the runtime, which calls everything: a function's own time says more.
        let most = if topic.view.crates.is_empty() {
            top(stacks, NAMED)
        } else {
            top_inclusive(stacks, NAMED)
        };
        let profiler = Some(all.profiler.to_string());
        let notes = [profiler, instrumented.clone(), busy(observation), error(observation)];
        let caption = format!("{server}: the functions that cost most");
        GraphSide {
            server,
            stacks,
            notes: notes.into_iter().flatten().collect(),
            caption: format!("{server}: {} of CPU time per request.", time(stacks.total())),
            table: functions(caption, Unit::Nanoseconds, stacks, most),
            standard: standard.clone(),
        }
    });
    let (heading, mut lead) = ("CPU time per request", cpu_lead(topic, &stacks));
    if standard.iter().any(Option::is_some) {
        lead += " Click a frame to zoom in on it, and press Ctrl-F to search.";
    }
    Some(section(GraphKind::Cpu, heading, lead, sides.collect()))
}

/// How exact the shares of a graph are: two standard errors at most, for a share of one half.
fn error(observation: &Observation) -> Option<String> {
    let samples = observation.recording.as_ref()?.samples;
    let percent = 100.0 / (samples.max(1) as f64).sqrt();
    Some(format!("{} samples: shares ± {percent:.1} % at most", thousands(samples as f64)))
}

fn cpu_lead(topic: &Topic, stacks: &[Folded]) -> String {
    // Costs are higher than those that `lab bench` measures.
    let build =
        if topic.instrumented { "In this instrumented build" } else { "Under the profiler" };
    let costs: Vec<_> = stacks.iter().map(|stacks| time(stacks.total())).collect();
    match (topic.servers.as_slice(), costs.as_slice()) {
        ([slow, fixed], [slow_costs, fixed_costs]) => {
            format!(
                "{build}, a request costs {slow_costs} of CPU time in {slow} and {fixed_costs} in \
                 {fixed}. Both graphs have the same scale: a width means the same in both, and the pale \
                 frame is the difference."
            )
        }
        (_, [costs]) => {
            format!("{build}, a request costs {costs} of CPU time. Look for the widest frames.")
        }
        _ => String::new(),
    }
}

fn cpu_total(all: &Observations) -> Option<Section> {
    let row = |it: &Observation| {
        let cost = it.cpu_per_request()?;
        let answered = thousands(it.answered as f64);
        Some(vec![it.name.clone(), answered, time(u64::try_from(cost.as_nanos()).ok()?)])
    };
    let lead = "The system counts how much CPU time a request costs. Only a profiler shows where it \
                goes, and none works here.";
    let mut section = Section::new("CPU time per request", lead.to_owned());
    let head = ["server", "requests answered", "CPU time per request"];
    let rows = all.servers.iter().map(row).collect::<Option<Vec<_>>>()?;
    section.tables.push(Table::new("CPU time as the system counts it", head, rows));
    Some(section)
}

pub fn allocations(topic: &Topic, all: &Observations) -> Option<Section> {
    let stacks: Vec<_> = all.heaps.iter().map(|heap| topic.view.of(&heap.stacks)).collect();
    let bytes = |stacks: &Folded| lab_report::weight(Unit::Bytes, stacks.total());
    let ([slow, fixed], [slow_stacks, fixed_stacks]) = (&topic.servers[..], &stacks[..]) else {
        return None;
    };
    let lead = format!(
        "A request makes {slow} allocate {}, and {fixed} {}. These samples come from a separate \
         build, which is never timed.",
        bytes(slow_stacks),
        bytes(fixed_stacks)
    );
    let sides = topic.servers.iter().zip(&stacks).zip(&all.heaps);
    let sides = sides.map(|((server, stacks), heap)| {
        let caption = format!("{server}: the functions that allocate most");
        GraphSide {
            server,
            stacks,
            notes: vec![format!("estimated from {} samples", thousands(heap.samples as f64))],
            caption: format!("{server}: {} per request.", bytes(stacks)),
            table: functions(caption, Unit::Bytes, stacks, top_inclusive(stacks, NAMED)),
            standard: None,
        }
    });
    Some(section(GraphKind::Allocations, "Bytes allocated per request", lead, sides.collect()))
}

/// The memory that stays. Absent if nobody asked for it.
pub fn kept(topic: &Topic, all: &Observations) -> Option<Section> {
    let view = &topic.view;
    let stacks: Vec<_> = all.kept.iter().map(|heap| heap.per_request(view)).collect();
    let sides = topic.servers.iter().zip(&stacks).zip(&all.kept).map(|((server, stacks), heap)| {
        let row = |stack: KeptStack| {
            let bytes = lab_report::weight(Unit::Bytes, stack.bytes_per_request);
            vec![stack.name, bytes, lab_report::percent(stack.share)]
        };
        let caption = format!("{server}: the stacks that keep most");
        let head = ["function ← its callers", "bytes a request", "share"];
        let rows = heap.largest(NAMED).into_iter().map(row);
        GraphSide {
            server,
            stacks,
            notes: vec![format!("of {} requests", thousands(heap.requests as f64))],
            caption: format!(
                "{server}: {} per request.",
                lab_report::weight(Unit::Bytes, stacks.total())
            ),
            table: Table::new(caption, head, rows),
            standard: None,
        }
    });
    let lead = "What the server allocated under load and had not freed at the end of it: a leak, or a store that \
                fills. heaptrack recorded each call of malloc and free in a run of its own.";
    let section =
        section(GraphKind::Allocations, "Memory that stays", lead.to_owned(), sides.collect());
    Some(section).filter(|section| !section.pictures.is_empty())
}

/// Where the time of a request goes, waits included.
pub fn waits(topic: &Topic, all: &Observations) -> Option<Section> {
    let waits = all.servers.iter();
    let waits = waits.filter_map(|it| Some((it.name.as_str(), Waits::of(it.spans.as_ref()?))));
    let waits: Vec<_> = waits.collect();
    if waits.is_empty() {
        return None;
    }
    // The longest waits outlast the recording. So its length decides their mean, and a ratio of the
    // means would be a ratio of that length.
    let means = waits.iter().map(|(server, waits)| {
        let least = if waits.is_cut_off() { "at least " } else { "" };
        format!("{least}{} in {server}", time(waits.stacks.total()))
    });
    // Only of a case it is known.
    let what = if topic.instrumented {
        "In a wait, the handler does nothing: something else works or waits meanwhile."
    } else {
        "Each frame is a span, and the spans within it are on top of it."
    };
    let means = means.collect::<Vec<_>>().join(" and ");
    let lead = format!("A request took {means} on average. {what}");
    let sides = waits.iter().map(|(server, waits)| GraphSide {
        server,
        stacks: &waits.stacks,
        notes: vec!["spans that the server records".to_owned()],
        caption: format!("{server}: the time of one answered request, by what it waited for."),
        table: waits.table(server),
        standard: None,
    });
    Some(section(GraphKind::Waits, "What a request waits for", lead, sides.collect()))
}

/// The functions that cost most, as text.
fn functions(caption: String, unit: Unit, stacks: &Folded, most: Vec<Row>) -> Table {
    let row = |row: Row| {
        let share = share(row.inclusive, stacks.total());
        vec![
            row.name,
            lab_report::weight(unit, row.inclusive),
            share,
            lab_report::weight(unit, row.own),
        ]
    };
    let head = ["function", "with all it calls", "share", "itself"];
    Table::new(caption, head, most.into_iter().map(row))
}
