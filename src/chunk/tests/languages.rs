//! One sample per language: what is a chunk, what it is called, which names it defines.

mod classes;
mod functional;
mod schemas;
mod scripts;
mod systems;
mod web;

use super::check;
