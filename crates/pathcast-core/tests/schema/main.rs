//! The schema room against its paper, chance and malice.

mod consistency;
mod hostile;
mod paper;
mod random;
mod setting;
