//! A URL `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?PARAMETER=VALUE&…`, read as libpq reads it.

use super::AddressError;
use super::parameters::Parameters;

/// What is said of any URL that is written wrongly; a piece of it could be a piece of the password.
const MISSPELT: &str = "it is postgres://USER:PASSWORD@HOST/DATABASE, and special characters in the password are \
                        percent-encoded";

pub(crate) fn parse(url: &str) -> Result<Parameters, AddressError> {
    let misspelt = || AddressError(MISSPELT.to_owned());
    let rest = url.strip_prefix("postgresql://").or_else(|| url.strip_prefix("postgres://")).ok_or_else(misspelt)?;
    let mut parameters = Parameters::default();
    // A password that is not encoded may have a `?` in it, so the user is looked for first.
    let (user, rest) = match rest.find(['@', '/']) {
        Some(at) if rest.as_bytes()[at] == b'@' => (Some(&rest[..at]), &rest[at + 1..]),
        Some(_) | None => (None, rest),
    };
    if let Some(user) = user {
        let (name, password) = user.split_once(':').map_or((user, None), |(name, password)| (name, Some(password)));
        parameters.set("user", decode(name)?)?;
        if let Some(password) = password {
            parameters.set("password", decode(password)?)?;
        }
    }
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (hosts, rest) = rest.split_at(end);
    read_hosts(hosts, &mut parameters)?;
    let (path, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
    // A password that is not encoded and has a `/` in it.
    if path.contains('@') {
        return Err(misspelt());
    }
    let database = decode(path.strip_prefix('/').unwrap_or(path))?;
    if !database.is_empty() {
        parameters.set("dbname", database)?;
    }
    if let Some(query) = query {
        // The message names the parameter, which could be a piece of a password with an `@` behind it.
        read_query(query, &mut parameters).map_err(|error| if query.contains('@') { misspelt() } else { error })?;
    }
    Ok(parameters)
}

fn read_hosts(hosts: &str, parameters: &mut Parameters) -> Result<(), AddressError> {
    let misspelt = || AddressError(MISSPELT.to_owned());
    if hosts.is_empty() {
        return Ok(());
    }
    let (mut names, mut ports) = (Vec::new(), Vec::new());
    for host in hosts.split(',') {
        let (name, port) = match host.strip_prefix('[') {
            // An IPv6 address has colons of its own.
            Some(rest) => {
                let (name, rest) = rest.split_once(']').ok_or_else(misspelt)?;
                let port = if rest.is_empty() { "" } else { rest.strip_prefix(':').ok_or_else(misspelt)? };
                (name, port)
            }
            None => host.split_once(':').unwrap_or((host, "")),
        };
        if name.contains('@') || !port.bytes().all(|letter| letter.is_ascii_digit()) {
            return Err(misspelt());
        }
        names.push(decode(name)?);
        ports.push(port);
    }
    parameters.set("host", names.join(","))?;
    if ports.iter().any(|port| !port.is_empty()) {
        parameters.set("port", ports.join(","))?;
    }
    Ok(())
}

fn read_query(query: &str, parameters: &mut Parameters) -> Result<(), AddressError> {
    let (mut seen, mut is_encrypted) = (Vec::<String>::new(), false);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (keyword, value) = pair.split_once('=').ok_or_else(|| AddressError(MISSPELT.to_owned()))?;
        let (keyword, value) = (decode(keyword)?, decode(value)?);
        // As for JDBC, which the managed services' pages have next to libpq.
        if keyword == "ssl" {
            if !matches!(value.as_str(), "true" | "1") {
                return Err(AddressError("`ssl` is `true`, or `sslmode` says more".to_owned()));
            }
            is_encrypted = true;
            continue;
        }
        let is_list = ["host", "hostaddr", "port", "listen_host", "listen_port"].contains(&keyword.as_str());
        // A list in the parameters replaces the one before the database's name.
        if is_list && seen.contains(&keyword) {
            parameters.append(&keyword, &value)?;
        } else {
            parameters.set(&keyword, value)?;
        }
        seen.push(keyword);
    }
    if is_encrypted { require_encryption(parameters) } else { Ok(()) }
}

/// What `ssl=true` asks for. Beside it `sslmode` counts, wherever it stands; it cannot take the encryption away.
fn require_encryption(parameters: &mut Parameters) -> Result<(), AddressError> {
    match parameters.get("sslmode") {
        None => parameters.set("sslmode", "require".to_owned()),
        Some("disable" | "allow" | "prefer") => {
            Err(AddressError("`ssl=true` and this `sslmode` contradict each other; leave one of them out".to_owned()))
        }
        Some(_) => Ok(()),
    }
}

fn decode(text: &str) -> Result<String, AddressError> {
    let misspelt = || AddressError(MISSPELT.to_owned());
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let [high, low, tail @ ..] = tail else { return Err(misspelt()) };
        let digit = |letter: &u8| char::from(*letter).to_digit(16).ok_or_else(misspelt);
        let byte = u8::try_from(digit(high)? * 16 + digit(low)?).map_err(|_| misspelt())?;
        if byte == 0 {
            return Err(misspelt());
        }
        bytes.push(byte);
        rest = tail;
    }
    String::from_utf8(bytes).map_err(|_| misspelt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(url: &str, keywords: [&str; 5]) -> [String; 5] {
        let parameters = parse(url).unwrap_or_else(|error| panic!("{url}: {}", error.0));
        keywords.map(|keyword| parameters.get(keyword).unwrap_or("-").to_owned())
    }

    #[test]
    fn a_url_is_read_as_libpq_reads_it() {
        for (url, expected) in [
            ("postgres://ada:s3cret@host:6432/plans", ["ada", "s3cret", "host", "6432", "plans"]),
            ("postgresql://ada@host/plans", ["ada", "-", "host", "-", "plans"]),
            ("postgres:///plans?user=ada&host=db-a&host=db-b", ["ada", "-", "db-a,db-b", "-", "plans"]),
            ("postgres://ada@db-a:5432,db-b:5433/plans", ["ada", "-", "db-a,db-b", "5432,5433", "plans"]),
            ("postgres://ada@db-a,db-b:5433/plans", ["ada", "-", "db-a,db-b", ",5433", "plans"]),
            (
                "postgres://ada@[::1]:5433,[fe80::2],10.0.0.1/plans",
                ["ada", "-", "::1,fe80::2,10.0.0.1", "5433,,", "plans"],
            ),
            ("postgres://ada@%2Frun%2Fpg/plans", ["ada", "-", "/run/pg", "-", "plans"]),
            ("postgres://ada%40shop:a%3Ab%40c%2Fd@host/plans", ["ada@shop", "a:b@c/d", "host", "-", "plans"]),
            ("postgres://ada:oh?s3cret@host/plans", ["ada", "oh?s3cret", "host", "-", "plans"]),
            ("postgres://host?dbname=plans&port=1", ["-", "-", "host", "1", "plans"]),
            ("postgres://db-a/plans?host=/cloudsql/p:r:i", ["-", "-", "/cloudsql/p:r:i", "-", "plans"]),
            ("postgres://", ["-", "-", "-", "-", "-"]),
        ] {
            assert_eq!(values(url, ["user", "password", "host", "port", "dbname"]), expected, "{url}");
        }
    }

    #[test]
    fn what_managed_services_show_is_read() {
        for (url, keyword, value) in [
            (
                "postgresql://a:b@ep-cool-1.eu.aws.neon.tech/neondb?sslmode=require&channel_binding=require",
                "channel_binding",
                "require",
            ),
            ("postgres://a:b@h/d?options=endpoint%3Dep-cool-1", "options", "endpoint=ep-cool-1"),
            (
                "postgres://postgres.ref:b@aws-0-eu.pooler.supabase.com:6543/postgres?pgbouncer=true&connection_limit=1",
                "port",
                "6543",
            ),
            ("postgres://a:b@h/d?sslmode=require&supa=base-pooler.x", "sslmode", "require"),
            (
                "postgres://a:b@h/d?sslmode=verify-full&sslrootcert=global-bundle.pem",
                "sslrootcert",
                "global-bundle.pem",
            ),
            ("postgres://a:b@h/d?ssl=true", "sslmode", "require"),
            ("postgres://a:b@h/d?sslmode=verify-full&ssl=true", "sslmode", "verify-full"),
            ("postgres://a:b@h/d?ssl=true&sslmode=verify-ca", "sslmode", "verify-ca"),
            ("postgres://a:b@h/d?uselibpqcompat=true&sslmode=prefer", "sslmode", "prefer"),
        ] {
            assert_eq!(parse(url).unwrap().get(keyword), Some(value), "{url}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused_without_a_piece_of_it() {
        for url in [
            "postgres://ada:s3cret",
            "postgres://ada:s3%zzcret@host/plans",
            "postgres://ada:p%00s3cret@host/plans",
            "postgres://ada:oh/s3cret@host/plans",
            "postgres://ada:12345/s3cret@host/plans",
            "postgres://ada:12345/oh?s3cret@host/plans",
            "postgres://ada:12345/oh?s3cret=1@host/plans",
            "postgres://12345/s3cret@host",
            "postgres://ada:oh@s3cret@host/plans",
            "postgres://ada:oh#s3cret@host:port/plans",
            "postgres://[::1/plans",
            "postgres://[::1]5432/plans",
            "postgres://host/plans?s3cret",
            "mysql://ada:s3cret@host",
        ] {
            let Err(error) = parse(url) else { panic!("{url}") };
            assert!(!error.0.contains("s3cret"), "{}", error.0);
        }
        for (url, words) in [
            ("postgres://host/plans?no_such_option=1", "no parameter `no_such_option`"),
            ("postgres://host/plans?sslpassword=s3cret", "openssl pkey"),
            ("postgres://host/plans?schema=x", "search_path"),
            ("postgres://host/plans?ssl=true&sslmode=disable", "contradict each other"),
            ("postgres://host/plans?sslmode=prefer&ssl=1", "contradict each other"),
            ("postgres://host/plans?ssl=false", "`ssl` is `true`"),
        ] {
            let Err(error) = parse(url) else { panic!("{url}") };
            assert!(error.0.contains(words) && !error.0.contains("s3cret"), "{}", error.0);
        }
    }
}
