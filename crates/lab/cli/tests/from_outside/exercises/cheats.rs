//! What passes no check: constant answers, caches, work left out, and halves of a fix.

/// What passes no check: the gate that it fails, a part of `slow`, and what replaces it.
pub type Cheat = (&'static str, &'static str, &'static str);

pub const ANSWERS: &str = "answers not_yet\n";
pub const MECHANISM: &str = "mechanism not_yet\n";

/// What can be fixed, each with a constant answer, one from a cache, and one with work left out. After
/// these come halves of the fix.
pub const CHEATS: [(&str, Option<&[Cheat]>); 10] = [
    ("lock-scope", None),
    ("per-request-client", None),
    (
        "hot-clone",
        Some(&[
            (
                ANSWERS,
                "sum_in_rounds(&user_ids, rounds).to_string()",
                "{ let _ = (user_ids, rounds); \"500005500000\".to_owned() }",
            ),
            (
                MECHANISM,
                "sum_in_rounds(&user_ids, rounds).to_string()",
                "static KNOWN: std::sync::Mutex<std::collections::BTreeMap<u64, String>> = std::sync::Mutex::new(std::collections::BTreeMap::new());
                 let mut known = KNOWN.lock().unwrap();
                 known.entry(rounds).or_insert_with(|| sum_in_rounds(&user_ids, rounds).to_string()).clone()",
            ),
            (
                ANSWERS,
                "sum_in_rounds(&user_ids, rounds)",
                "sum_in_rounds(&user_ids, rounds.min(1_000_000))",
            ),
        ]),
    ),
    (
        "double-parse",
        Some(&[
            (
                ANSWERS,
                "Document::from_reader(bytes)?",
                "{ let _ = bytes; Document::from_reader(&*crate::batch::find_reply(10_000))? }",
            ),
            (
                ANSWERS,
                "    let response = CommandResponse { raw_response: Document::from_reader(bytes)? };
    let reply: FindReply<String> = response.body()?;
    Ok(reply.summary())",
                "static ONCE: std::sync::OnceLock<Summary> = std::sync::OnceLock::new();
                 Ok(ONCE.get_or_init(|| crate::slow::summarise(bytes).unwrap()).clone())",
            ),
            (
                ANSWERS,
                "Document::from_reader(bytes)?",
                "{ let size = crate::SIZES.into_iter().find(|size| crate::batch::find_reply(*size).len() == bytes.len());
                   Document::from_reader(&*crate::batch::find_reply(size.unwrap_or(1)))? }",
            ),
        ]),
    ),
    (
        "presence",
        Some(&[
            (
                ANSWERS,
                "Ok(page(&room, &people))",
                "{ let _ = (page, people); Ok(\"lobby: 3 here\\nAda, desk 5761\\nGrace, desk 8795\\nLinus, desk 3172\\n\".to_owned()) }",
            ),
            (
                ANSWERS,
                "Ok(page(&room, &people))",
                "static KNOWN: std::sync::Mutex<std::collections::BTreeMap<String, String>> = std::sync::Mutex::new(std::collections::BTreeMap::new());
                 Ok(KNOWN.lock().unwrap().entry(room.clone()).or_insert_with(|| page(&room, &people)).clone())",
            ),
            // The answers are right, but nobody asked the directory.
            (
                MECHANISM,
                "service.directory.people(&nicknames).await",
                "nicknames.iter().map(|it| crate::person(it)).collect::<Vec<_>>()",
            ),
        ]),
    ),
    (
        "tariffs",
        Some(&[
            (
                ANSWERS,
                "estimate.text()",
                "{ estimate.text(); \"1000 parcels, 34 too heavy\\n2702950 cents, at most 10350\\n\".to_owned() }",
            ),
            (
                MECHANISM,
                "    let mut estimate = Estimate::default();
    for parcel in batch.parcels() {
        estimate.add(prices.cents(&parcel));
    }
    estimate.text()",
                "static KNOWN: std::sync::Mutex<std::collections::BTreeMap<String, String>> = std::sync::Mutex::new(std::collections::BTreeMap::new());
                 KNOWN.lock().unwrap().entry(format!(\"{batch:?}\")).or_insert_with(|| {
                     let mut estimate = Estimate::default();
                     batch.parcels().for_each(|parcel| estimate.add(prices.cents(&parcel)));
                     estimate.text()
                 }).clone()",
            ),
            (ANSWERS, "batch.parcels()", "batch.parcels().take(1000)"),
            // The tariffs, but not the surcharges.
            (
                MECHANISM,
                "kind(&it.zone, &it.service) == kind(zone, parcel.service)",
                "it.zone == zone && it.service == parcel.service",
            ),
        ]),
    ),
    (
        "receipts",
        Some(&[
            (
                ANSWERS,
                "Ok(Printer::new(wish.language)?.print(&order)?)",
                "{ use std::sync::OnceLock; static ONCE: OnceLock<String> = OnceLock::new();
                   let printer = Printer::new(wish.language)?;
                   Ok(ONCE.get_or_init(|| printer.print(&order).unwrap_or_default()).clone()) }",
            ),
            (
                MECHANISM,
                "Ok(Printer::new(wish.language)?.print(&order)?)",
                "{ static KNOWN: std::sync::Mutex<std::collections::BTreeMap<(&str, u32), String>> = std::sync::Mutex::new(std::collections::BTreeMap::new());
                   let receipt = KNOWN.lock().unwrap().get(&(wish.language.code(), number)).cloned();
                   if let Some(receipt) = receipt { return Ok(receipt); }
                   let receipt = Printer::new(wish.language)?.print(&order)?;
                   KNOWN.lock().unwrap().insert((wish.language.code(), number), receipt.clone());
                   Ok(receipt) }",
            ),
            (ANSWERS, "in PARTS {", "in PARTS.into_iter().filter(|it| *it != \"terms\") {"),
            // Only the templates of one language.
            (
                MECHANISM,
                "in TEMPLATES {",
                "in TEMPLATES.into_iter().filter(|it| it.0.starts_with(language.code())) {",
            ),
        ]),
    ),
    (
        "catalogue",
        Some(&[
            (
                ANSWERS,
                "    let most = wanted.most.unwrap_or(usize::MAX);",
                "    let wanted = Wanted { rate: 190, tag: None, most: Some(500) };
                 let most = 500;",
            ),
            (
                MECHANISM,
                FEED,
                "static KNOWN: std::sync::Mutex<std::collections::BTreeMap<String, Value>> = std::sync::Mutex::new(std::collections::BTreeMap::new());
                 Ok(Json(KNOWN.lock().unwrap().entry(format!(\"{wanted:?}\")).or_insert_with(|| json!({
                     \"count\": entries.len(),
                     \"in_stock\": entries.iter().filter(|entry| is_in_stock(entry)).count(),
                     \"products\": entries,
                     \"rate\": wanted.rate,
                 })).clone()))",
            ),
            (ANSWERS, ".take(most)", ".take(most.min(500))"),
            // One tree for each product, and no copy of it.
            (
                MECHANISM,
                FEED,
                "let in_stock = entries.iter().filter(|entry| is_in_stock(entry)).count();
                 let mut feed = json!({ \"count\": entries.len(), \"in_stock\": in_stock, \"rate\": wanted.rate });
                 feed[\"products\"] = entries.into();
                 Ok(Json(feed))",
            ),
        ]),
    ),
    (
        "timesheet",
        Some(&[
            (
                ANSWERS,
                "entry.team == team && days.contain(entry.day)",
                "{ let _ = (team, days); entry.team == 1 && entry.day <= 180 }",
            ),
            (
                MECHANISM,
                "let table = table(sheet.iter().filter(wanted));",
                "static KNOWN: std::sync::Mutex<std::collections::BTreeMap<(u32, u32, u32), String>> = std::sync::Mutex::new(std::collections::BTreeMap::new());
                 let table = KNOWN.lock().unwrap().entry((team, days.from, days.to))
                     .or_insert_with(|| table(sheet.iter().filter(wanted))).clone();",
            ),
            (ANSWERS, "*exports.lock().await.entry(team).or_default() += 1;", "let _ = exports;"),
        ]),
    ),
    (
        "quotes",
        Some(&[
            (
                ANSWERS,
                "shop.wholesaler.price(depot, &item).await",
                "(item == \"lamp\").then_some(1_250_u32)",
            ),
            (
                ANSWERS,
                "shop.wholesaler.price(depot, &item).await",
                "{ static KNOWN: std::sync::Mutex<std::collections::BTreeMap<String, u32>> = std::sync::Mutex::new(std::collections::BTreeMap::new());
                   let page = format!(\"{depot:?} {item}\");
                   let known = KNOWN.lock().unwrap().get(&page).copied();
                   let price = match known { None => shop.wholesaler.price(depot, &item).await, known => known };
                   if let Some(price) = price { KNOWN.lock().unwrap().insert(page, price); }
                   price }",
            ),
            (ANSWERS, "*known = price.min(*known);", "let _ = &known;"),
            // Only the first fault is fixed, and only the second.
            (
                MECHANISM,
                "    let mut lowest = shop.lowest.lock().await;
    let price = shop.wholesaler.price(depot, &item).await;
",
                "    let price = shop.wholesaler.price(depot, &item).await;
    let mut lowest = shop.lowest.lock().await;
",
            ),
            (MECHANISM, "connect(options, 1)", "connect(options, 16)"),
        ]),
    ),
];

/// The answer of `catalogue`.
const FEED: &str = r#"Ok(Json(json!({
        "count": entries.len(),
        "in_stock": entries.iter().filter(|entry| is_in_stock(entry)).count(),
        "products": entries,
        "rate": wanted.rate,
    })))"#;
