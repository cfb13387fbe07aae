use clap::Parser as _;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    shop::referee::Command::parse().run().await
}
