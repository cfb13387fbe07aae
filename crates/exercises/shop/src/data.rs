//! What the shop has collected in three years: a database and the sessions of its customers. All of it depends on
//! nothing but a seed.

use std::{collections::BTreeMap, fmt::Write as _, path::Path};

use anyhow::Context as _;
use argon2::{Argon2, Params, PasswordHasher as _};
use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection, sqlite::SqliteConnectOptions};

pub const DATABASE: &str = "shop.sqlite";
pub const SESSIONS: &str = "sessions.json";
pub const LOG: &str = "shop.log";

pub const PRODUCTS: u32 = 4_000;
pub const CUSTOMERS: u32 = 6_000;
const ORDERS: u32 = 40_000;
const REVIEWS: u32 = 12_000;
/// The customers who are logged in are the first ones.
pub const LOGGED_IN: u32 = 3_000;
/// The customers have this many passwords between them: to hash 6,000 would take a minute.
const PASSWORDS: u32 = 16;

/// The cost of a password's hash, as OWASP's cheat sheet on storing passwords has it. A cheaper one is too weak.
pub const MEMORY_KIB: u32 = 19 * 1024;
pub const PASSES: u32 = 2;

const TABLES: &str = "
CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL, cents INTEGER NOT NULL, text TEXT NOT NULL);
CREATE TABLE reviews (id INTEGER PRIMARY KEY, product_id INTEGER NOT NULL REFERENCES products (id),
    stars INTEGER NOT NULL, text TEXT NOT NULL);
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, mail TEXT NOT NULL UNIQUE, password TEXT NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, reference TEXT NOT NULL UNIQUE,
    customer_id INTEGER NOT NULL REFERENCES customers (id), cents INTEGER NOT NULL);
CREATE TABLE order_lines (order_id INTEGER NOT NULL REFERENCES orders (id), line INTEGER NOT NULL,
    product_id INTEGER NOT NULL REFERENCES products (id), amount INTEGER NOT NULL, cents INTEGER NOT NULL,
    PRIMARY KEY (order_id, line)) WITHOUT ROWID;
";

const LOOKS: [&str; 20] = [
    "Blue", "Small", "Plain", "Heavy", "Round", "Tall", "Green", "Light", "Square", "Folding",
    "Red", "Wide", "Dark", "Slim", "Striped", "Old", "Bright", "Low", "Double", "Grey",
];
const MATERIALS: [&str; 10] =
    ["oak", "steel", "linen", "glass", "cork", "brass", "cotton", "slate", "wool", "bamboo"];
const THINGS: [&str; 20] = [
    "lamp", "bowl", "chair", "basket", "shelf", "vase", "tray", "jug", "stool", "mirror", "clock",
    "box", "rack", "bench", "plate", "mug", "hook", "blanket", "frame", "table",
];
const OPINIONS: [&str; 6] = [
    "Does what it should.",
    "The second one that I bought, and it won't be the last.",
    "Arrived late, but whole.",
    "Smaller than in the picture.",
    "A present. She likes it.",
    "Wobbles & creaks; I kept it.",
];

/// Makes the database and the sessions in `dir`, unless they are there.
///
/// # Errors
///
/// If they can't be written.
pub async fn make(dir: &Path, seed: u32) -> anyhow::Result<()> {
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let (database, sessions) = (dir.join(DATABASE), dir.join(SESSIONS));
    if !sessions.exists() {
        std::fs::write(&sessions, first_sessions(seed)?)?;
    }
    if !database.exists() {
        let filled = fill(&database, seed).await;
        filled.with_context(|| format!("cannot make {}", database.display()))?;
    }
    Ok(())
}

async fn fill(file: &Path, seed: u32) -> anyhow::Result<()> {
    // A shop that is stopped in here must not begin with half of its tables.
    let unfinished = file.with_extension("unfinished");
    let options = SqliteConnectOptions::new().filename(&unfinished).create_if_missing(true);
    let options = options.pragma("journal_mode", "OFF").pragma("synchronous", "OFF");
    let mut connection = SqliteConnection::connect_with(&options).await?;
    let hashes: Vec<_> =
        (0..PASSWORDS).map(|nth| hash(&password(nth), seed)).collect::<Result<_, _>>()?;
    let mut transaction = connection.begin().await?;
    sqlx::raw_sql(TABLES).execute(&mut *transaction).await?;
    let mut lines = Vec::new();
    let products = |id| {
        let Product { name, cents } = product(id, seed);
        let text = format!(
            "A {} that lasts. We have sold it since {}.",
            name.to_lowercase(),
            1950 + id % 70
        );
        format!("{id}, '{name}', {cents}, '{text}'")
    };
    let reviews = |id| {
        let random = mixed(id, seed ^ 0x5EED);
        let text = OPINIONS[random as usize % OPINIONS.len()];
        format!(
            "{id}, {}, {}, '{}'",
            1 + random / 7 % PRODUCTS,
            1 + random / 11 % 5,
            text.replace('\'', "''")
        )
    };
    let customers = |id| {
        let hash = &hashes[(id % PASSWORDS) as usize];
        format!("{id}, '{}', '{}', '{hash}'", name_of(id, seed), mail_of(id))
    };
    let orders = |id: u32| {
        let random = mixed(id, seed ^ 0x0DE5);
        let mut sum = 0;
        for line in 0..1 + random % 3 {
            let product_id = 1 + mixed(id * 4 + line, seed) % PRODUCTS;
            let (amount, cents) = (1 + (random >> 8) % 3, product(product_id, seed).cents);
            sum += amount * cents;
            lines.push(format!("{id}, {line}, {product_id}, {amount}, {cents}"));
        }
        format!("{id}, 'past-{id}', {}, {sum}", 1 + random / 3 % CUSTOMERS)
    };
    insert(&mut transaction, "products", (1..=PRODUCTS).map(products)).await?;
    insert(&mut transaction, "reviews", (1..=REVIEWS).map(reviews)).await?;
    insert(&mut transaction, "customers", (1..=CUSTOMERS).map(customers)).await?;
    insert(&mut transaction, "orders", (1..=ORDERS).map(orders)).await?;
    insert(&mut transaction, "order_lines", lines.into_iter()).await?;
    transaction.commit().await?;
    connection.close().await?;
    Ok(std::fs::rename(unfinished, file)?)
}

async fn insert(
    connection: &mut SqliteConnection,
    table: &str,
    rows: impl Iterator<Item = String>,
) -> sqlx::Result<()> {
    let rows: Vec<_> = rows.collect();
    for rows in rows.chunks(1_000) {
        let mut insert = format!("INSERT INTO {table} VALUES ");
        for (nth, row) in rows.iter().enumerate() {
            let _ = write!(insert, "{}({row})", if nth == 0 { "" } else { "," });
        }
        sqlx::raw_sql(AssertSqlSafe(insert)).execute(&mut *connection).await?;
    }
    Ok(())
}

/// What a product is called and costs.
pub struct Product {
    pub name: String,
    pub cents: u32,
}

pub fn product(id: u32, seed: u32) -> Product {
    let at = id as usize;
    let (look, material) = (LOOKS[at % LOOKS.len()], MATERIALS[at / LOOKS.len() % MATERIALS.len()]);
    let thing = THINGS[at / (LOOKS.len() * MATERIALS.len()) % THINGS.len()];
    Product { name: format!("{look} {material} {thing}"), cents: 199 + mixed(id, seed) % 9_000 }
}

/// A word that many products have in their names.
pub fn word(nth: u32) -> &'static str {
    let words = [&LOOKS[..], &MATERIALS, &THINGS].concat();
    words[nth as usize % words.len()]
}

pub fn mail_of(customer: u32) -> String {
    format!("customer{customer}@example.com")
}

fn name_of(customer: u32, seed: u32) -> String {
    const FIRST: [&str; 8] =
        ["Ada", "Grace", "Alan", "Zoë", "Edsger", "Barbara", "Donald", "Frances"];
    const LAST: [&str; 8] =
        ["Byron", "Hopper", "Turing", "Smith", "Wybe", "Liskov", "Knuth", "Allen"];
    let random = mixed(customer, seed ^ 0xCAFE) as usize;
    format!("{} {}", FIRST[random % 8], LAST[random / 8 % 8])
}

/// The password of a customer.
pub fn password_of(customer: u32) -> String {
    password(customer % PASSWORDS)
}

fn password(nth: u32) -> String {
    format!("correct horse {nth}")
}

fn hash(password: &str, seed: u32) -> anyhow::Result<String> {
    let hasher = Argon2::from(Params::new(MEMORY_KIB, PASSES, 1, None)?);
    let salt =
        format!("{:016x}", u64::from(seed) << 20 | u64::from(mixed(password.len() as u32, seed)));
    Ok(hasher.hash_password_with_salt(password.as_bytes(), salt.as_bytes())?.to_string())
}

/// The token in the cookie of a customer who is logged in from the start.
pub fn token_of(customer: u32, seed: u32) -> String {
    let part = |nth| mixed(customer, seed.wrapping_add(nth));
    format!("{:08x}{:08x}{:08x}{:08x}", part(101), part(102), part(103), part(104))
}

/// The file with all sessions: by token, the customer and the basket, which has pairs of a product and an amount.
fn first_sessions(seed: u32) -> serde_json::Result<Vec<u8>> {
    let session = |customer| {
        let random = mixed(customer, seed ^ 0xBA5);
        let item = |nth| [1 + mixed(customer + nth, seed) % PRODUCTS, 1 + nth % 3];
        let basket: Vec<_> = (0..random % 4).map(item).collect();
        (token_of(customer, seed), serde_json::json!({ "customer": customer, "basket": basket }))
    };
    serde_json::to_vec(&(1..=LOGGED_IN).map(session).collect::<BTreeMap<_, _>>())
}

/// A number that looks random (the finalizer of MurmurHash3), the same on every machine.
pub fn mixed(id: u32, seed: u32) -> u32 {
    let mut number = id ^ seed.wrapping_mul(0x9E37_79B9);
    number = (number ^ number >> 16).wrapping_mul(0x85EB_CA6B);
    number = (number ^ number >> 13).wrapping_mul(0xC2B2_AE35);
    number ^ number >> 16
}
