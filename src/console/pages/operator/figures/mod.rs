//! Figures of the market: a page that lists them, and a page for each. [`store::figures`](crate::store::figures) declares the
//! figures; the pages make the charts, the table, the CSV file, and the choice of the range.

mod detail;
mod drawing;
mod range;
mod values;

use super::paths::FIGURES;
use crate::{
    console::{navigation::PageRow, pages::operator::prelude::*},
    store::figures::ALL,
};

/// Returns the rows of the table of pages.
pub fn rows() -> Vec<PageRow> {
    vec![PageRow::page(Figures), PageRow::page(detail::FigurePage)]
}

/// The page that lists all figures.
pub struct Figures;

impl Page<Operator> for Figures {
    const PATH: &'static str = FIGURES;
    const TITLE: &'static str = "Figures";
    const NAVIGATION: Option<NavigationItem> = Some(Section::Market.link("Figures"));

    async fn show(visit: &Visit<Operator>) -> Result<Answer> {
        let body = html! {
            div.two { @for figure in ALL {
                section.stack {
                    h2 { a href=(visit.links.to(&format!("{FIGURES}/{}", figure.name))) { (figure.title) } }
                    p.note { (figure.explanation) }
                }
            } }
        };
        let note =
            html! { "What the market looks like in numbers. Each figure is a chart, a table, and a file." };
        Ok(Content::new(Self::TITLE, body).with_note(note).into())
    }
}
