//! The journal of a world: every request to it and its answer, and the requests to the sandbox API that change it, in the
//! order in which they were admitted. A reset does not clear it.

mod body;
mod coverage;
mod decoding;
mod entry;
mod expectation;
mod filter;
mod log;
mod recording;
pub mod secrets;
mod space;

pub use self::{
    body::{BodySnapshot, INLINE_BYTES, MAX_BODY_BYTES, RecordedBody, WholeBody},
    coverage::{Coverage, MetOutcome, OutcomeCount},
    entry::{
        Answer, Header, JournalEntry, KeyLabel, OperationName, Origin, RequestHead, WorldApi, find_header,
    },
    expectation::{CallMatch, Expectation, Verdict},
    filter::{JournalFilter, TeamText, matches_path},
    log::{Journal, JournalPage, KeyDigest, LabelVersion},
    recording::{AnswerHead, Ending, Recording, note_admission, record_admission},
    space::{MAX_ENTRIES, MAX_FILES, MAX_MEMORY, SharedSpace},
};
