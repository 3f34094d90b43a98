//! The switch between the sides of a team that both sells and buys.

use crate::{
    console::prelude::*,
    domain::sessions::{SessionPreferences, TeamSide},
};

/// The switch. The choice is kept for the session.
pub struct ChooseSide;

impl Action<Member> for ChooseSide {
    const PATH: &'static str = "/side";
    const TITLE: &'static str = "Choose a side";

    async fn submit(visit: &Visit<Member>, fields: &Fields) -> Result<Answer> {
        let side = fields.get("side").and_then(TeamSide::parse);
        let side = side.ok_or_else(|| invalid("side", "Choose buying or selling."))?;
        visit.set_preferences(|others| SessionPreferences { side: Some(side), ..others }).await?;
        Ok(Answer::Redirect(String::new()))
    }
}
