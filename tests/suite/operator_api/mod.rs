//! The operator API: what each operation does, as operators see it.

mod estimations;
mod money;
mod notifications;
mod offers;
mod purchases;
mod races;
mod sales_market;
