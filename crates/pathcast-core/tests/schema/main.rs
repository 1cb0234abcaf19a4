//! The schema room against its paper, chance and malice.

#![allow(clippy::unwrap_used)] // the lint spares test functions, but not what they share

mod consistency;
mod hostile;
mod paper;
mod places;
mod random;
mod setting;
