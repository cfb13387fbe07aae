//! A certificate authority for one run, and the site's certificate from it. Both keys are kept in memory
//! only.

use std::sync::Arc;

use anyhow::Context as _;
use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose,
};
use rustls::{
    ServerConfig,
    crypto::ring::Ticketer,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};

/// A TLS configuration for `localhost` and 127.0.0.1, and the authority to trust for it, as PEM.
pub fn for_loopback() -> anyhow::Result<(Arc<ServerConfig>, String)> {
    let (authority, issuer) = authority().context("cannot make a certificate authority")?;
    let (certificate, key) = leaf(&issuer).context("cannot make a certificate")?;
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)?;
    // No HTTP/2, which would put all requests of a client on one connection.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    // Tickets, so that clients can resume sessions, as with most sites on the internet.
    config.ticketer = Ticketer::new()?;
    Ok((Arc::new(config), authority.pem()))
}

fn authority() -> Result<(rcgen::Certificate, Issuer<'static, KeyPair>), rcgen::Error> {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "tls-site, this run");
    as_authority(&mut params);
    let key = KeyPair::generate()?;
    Ok((params.self_signed(&key)?, Issuer::new(params, key)))
}

fn as_authority(params: &mut CertificateParams) {
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
}

/// Bytes that fill up a made-up authority, so that its PEM is as long as the mean of Debian's, 1.5 kB: a key of P-256 is
/// shorter than most of theirs.
const PADDING: usize = 680;
/// The padding's type, which no program knows.
const PADDING_TYPE: [u64; 7] = [1, 3, 6, 1, 4, 1, 99_999];

/// Authorities that sign nothing, each as PEM. Only their names differ, which are equally long.
pub(crate) fn made_up(count: u16) -> anyhow::Result<Vec<String>> {
    let key = KeyPair::generate()?;
    (0..count)
        .map(|number| {
            let mut params = CertificateParams::default();
            params.distinguished_name.push(DnType::CommonName, format!("made up, {number:05}"));
            let padding = CustomExtension::from_oid_content(&PADDING_TYPE, vec![0; PADDING]);
            params.custom_extensions.push(padding);
            as_authority(&mut params);
            Ok(params.self_signed(&key)?.pem())
        })
        .collect()
}

fn leaf(issuer: &Issuer<'static, KeyPair>) -> Result<(rcgen::Certificate, KeyPair), rcgen::Error> {
    let mut params = CertificateParams::new(["localhost".to_owned(), "127.0.0.1".to_owned()])?;
    params.distinguished_name.push(DnType::CommonName, "localhost");
    params.use_authority_key_identifier_extension = true;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let key = KeyPair::generate()?;
    Ok((params.signed_by(&key, issuer)?, key))
}
