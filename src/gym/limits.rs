//! Limits on the cost of the reference run. A change of the agent server that exceeds them fails a test.

/// Maximum number of calls for the core questions about the demo market.
pub const REFERENCE_CALLS: u64 = 25;

/// Maximum number of tokens of the answers to these calls.
pub const REFERENCE_TOKENS: u64 = 2_500;
