//! Receives the pack of a repository's newest commit from its host. Does not parse the pack.

use std::{
    fmt,
    fs::File,
    io::{self, BufRead, Write},
    path::Path,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use gix::{
    ObjectId,
    progress::Discard,
    protocol::{
        self, Handshake, LsRefsCommand,
        fetch::{
            Arguments, Context, Negotiate, Options, Response, Shallow, Tags,
            negotiate::{Action, Round, one_round},
        },
        handshake::Ref,
        ls_refs::RefPrefixes,
        transport::{
            Protocol, Service,
            client::blocking_io::{Transport, connect, http},
        },
    },
};

use super::{
    Limits, Origin,
    formats::UnsupportedFormat,
    http_transport::{ConnectionOptions, HostClient, HostError, TransferState, USER_AGENT},
};

/// Name of the ref whose commit is copied.
const HEAD: &[u8] = b"HEAD";

/// The location of a repository, and how to access it.
#[derive(Clone)]
pub struct RemoteRepository {
    /// URL of the repository: `https`, or `http` or `file` if the settings name such a host.
    pub address: String,
    /// Value of the `Authorization` header for private repositories.
    pub authorization: Option<String>,
    /// Whether the host may be in a private network.
    pub may_be_private: bool,
    /// Whose repository it is.
    pub origin: Origin,
}

impl fmt::Debug for RemoteRepository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteRepository({})", self.address)
    }
}

/// The pack could not be written to the disk of the server, which is not the fault of the host.
#[derive(Debug)]
pub(super) struct OwnDisk(pub(super) io::Error);

impl fmt::Display for OwnDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the pack cannot be written")
    }
}

impl std::error::Error for OwnDisk {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

/// What a host sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Received {
    /// A pack.
    Pack {
        /// ID of the newest commit, in hexadecimal.
        head: String,
    },
    /// Nothing, since the repository has no commit.
    NoCommits,
    /// Nothing, since the repository has a format that is not read.
    Unsupported(UnsupportedFormat),
}

/// Receives the pack of the newest commit with its history, and writes it to the file `pack`.
pub(super) fn receive(
    source: &RemoteRepository,
    pack: &Path,
    limits: Limits,
    state: &Arc<TransferState>,
) -> gix::Result<Received> {
    let url = gix::url::parse(source.address.as_str())?;
    if is_file_address(&source.address) {
        let mut transport = connect::connect(url, connect::Options::default())?;
        return receive_over(&mut transport, pack, limits, state);
    }
    let options = ConnectionOptions {
        authorization: source.authorization.as_deref(),
        may_be_private: source.may_be_private,
        idle_timeout: Duration::from_secs(limits.idle_seconds.into()),
        max_bytes: limits.bytes,
    };
    let host = HostClient::new(options, Arc::clone(state)).map_err(gix::Error::from_error)?;
    receive_over(&mut http::Transport::new_http(host, url, Protocol::V2, false), pack, limits, state)
}

/// Whether an address names a repository of this machine.
pub(super) fn is_file_address(address: &str) -> bool {
    address.starts_with("file:")
}

fn receive_over<T: Transport>(
    transport: &mut T,
    pack: &Path,
    limits: Limits,
    state: &TransferState,
) -> gix::Result<Received> {
    let agent = ("agent", Some(USER_AGENT.to_owned()));
    // Git itself has no credentials to offer: ours are sent with each request.
    let mut handshake =
        protocol::handshake(&mut *transport, Service::UploadPack, |_| Ok(None), Vec::new(), &mut Discard)?;
    let object_format = handshake.capabilities.capability("object-format");
    if object_format.and_then(|format| format.supports("sha256")) == Some(true) {
        return Ok(Received::Unsupported(UnsupportedFormat::Sha256));
    }
    let refs = match handshake.refs.take() {
        Some(refs) => refs,
        None => list_head(transport, &handshake, agent.clone())?,
    };
    let Some(head) = refs.iter().find_map(head_of) else { return Ok(Received::NoCommits) };
    drop(refs);
    let mut file = File::create(pack).map_err(|cause| gix::Error::from_error(OwnDisk(cause)))?;
    let context =
        Context { handshake: &mut handshake, transport, user_agent: agent, trace_packetlines: false };
    let options = Options {
        shallow_file: pack.with_file_name("shallow"),
        shallow: &Shallow::NoChange,
        tags: Tags::None,
        reject_shallow_remote: false,
    };
    protocol::fetch(
        &mut WantOne(head),
        |reader, _, _| {
            copy_limited(reader, &mut file, limits.bytes, state).map_err(gix::Error::from_error)?;
            Ok(true)
        },
        Discard,
        &state.is_stopped,
        context,
        options,
    )?;
    Ok(Received::Pack { head: head.to_string() })
}

/// Asks the host for the commit of `HEAD`, in the second version of the protocol.
fn list_head<T: Transport>(
    transport: &mut T,
    handshake: &Handshake,
    agent: (&'static str, Option<String>),
) -> gix::Result<Vec<Ref>> {
    let mut prefixes = RefPrefixes::new();
    prefixes.extend([HEAD.into()]);
    LsRefsCommand::new(Some(prefixes), &handshake.capabilities, agent).invoke_blocking(
        transport,
        &mut Discard,
        false,
    )
}

/// Returns the commit of a ref if the ref is `HEAD`.
fn head_of(found: &Ref) -> Option<ObjectId> {
    let (name, target, peeled) = found.unpack();
    (name == HEAD).then(|| peeled.or(target).map(ToOwned::to_owned)).flatten()
}

/// Copies the bytes of a pack, and fails if there are more than `max_bytes` or the copy is to stop.
fn copy_limited(
    from: &mut dyn BufRead,
    to: &mut dyn Write,
    max_bytes: u64,
    state: &TransferState,
) -> io::Result<()> {
    let mut remaining = max_bytes;
    loop {
        if state.is_stopped.load(Ordering::SeqCst) {
            return Err(io::Error::other("stopped"));
        }
        let chunk = from.fill_buf()?;
        if chunk.is_empty() {
            return to.flush();
        }
        let count = chunk.len();
        remaining =
            remaining.checked_sub(count as u64).ok_or_else(|| state.record_error(HostError::TooLarge))?;
        to.write_all(chunk).map_err(|cause| io::Error::other(OwnDisk(cause)))?;
        from.consume(count);
    }
}

/// A negotiation that wants one commit, and has no common commits.
struct WantOne(ObjectId);

impl Negotiate for WantOne {
    fn mark_complete_and_common_ref(&mut self) -> gix::Result<Action> {
        Ok(Action::MustNegotiate { remote_ref_target_known: vec![false] })
    }

    fn add_wants(&mut self, arguments: &mut Arguments, _: &[bool]) -> bool {
        arguments.want(self.0);
        true
    }

    fn one_round(
        &mut self,
        _: &mut one_round::State,
        _: &mut Arguments,
        _: Option<&Response>,
    ) -> gix::Result<(Round, bool)> {
        let round = Round {
            haves_sent: 0,
            in_vain: 0,
            haves_to_send: 0,
            previous_response_had_at_least_one_in_common: false,
        };
        Ok((round, true))
    }
}
