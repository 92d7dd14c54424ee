//! Languages that compile to machine code.

use super::check;

#[test]
fn c() {
    check(
        "src/c.c",
        "c",
        r#"#include <stdio.h>
#define MAX 10
#define SQ(x) ((x) * (x))

struct point {
    int x;
};

typedef struct {
    int q;
} pair_t;

enum color { RED, GREEN };

static int counter = 0;

int add(int a, int b);

/* Adds. */
static int *add_all(int *xs,
                    int n)
{
    return xs;
}

#ifdef DEBUG
void dump(void)
{
    puts("x");
}
#endif
"#,
        "
            1-3 block - [MAX SQ]
            5-7 type point [point]
            9-11 type pair_t [pair_t]
            13-17 type color [color counter]
            19-24 function add_all [add_all]
            26-31 function dump [dump]
        ",
    );
}

#[test]
fn cpp() {
    check(
        "src/cpp.cpp",
        "cpp",
        r"#pragma once
namespace net {

template <typename T>
class Queue : public Base {
public:
    Queue();
    int size() const { return n; }
private:
    int n;
};

void Queue::push(int a) {
    n = a;
}

Queue::~Queue() {
    n = 0;
}

using Id = int;

}  // namespace net

bool operator==(const A& a, const B& b) {
    return true;
}
",
        "
            1-11 class Queue [net Queue size]
            13-15 function push [push]
            17-19 function ~Queue [~Queue]
            21-23 type Id [Id]
            25-27 function operator== [operator==]
        ",
    );
}

#[test]
fn go() {
    check(
        "src/go.go",
        "go",
        r#"package server

import (
	"net"
)

// Server listens.
type Server struct {
	addr string
}

type (
	Handler func()
	Closer interface {
		Close() error
	}
)

const (
	A = 1
	B = 2
)

// Handle serves.
func (s *Server) Handle(c net.Conn) error {
	return nil
}

func New() *Server {
	return &Server{}
}
"#,
        "
            1-5 block - []
            7-10 type Server [Server]
            12-17 type - [Handler Closer]
            19-22 block - [A B]
            24-27 function Handle [Handle]
            29-31 function New [New]
        ",
    );
}

#[test]
fn rust() {
    check(
        "src/rust.rs",
        "rust",
        r"//! Crate docs.
use std::fmt;

const LIMIT: usize = 3;

/// A point.
#[derive(Debug)]
pub struct Point<T> {
    x: T,
}

impl<T> fmt::Display for Point<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        Ok(())
    }
}

pub trait Shape {
    const SIDES: u8;
    fn area(&self) -> f64;
}

macro_rules! square {
    ($x:expr) => { $x * $x };
}

#[cfg(test)]
mod tests {
    #[test]
    fn works() {}
}

fn one() -> u8 { 1 }
fn two() -> u8 { 2 }
",
        "
            1-4 block - [LIMIT]
            6-10 type Point [Point]
            12-16 class Point [fmt]
            18-21 class Shape [Shape SIDES area]
            23-25 function square [square]
            27-31 class tests [tests works]
            33-34 function - [one two]
        ",
    );
}

#[test]
fn zig() {
    check(
        "src/zig.zig",
        "zig",
        r#"const std = @import("std");

/// Runs.
pub fn main() void {
    return;
}

const Point = struct {
    x: u32,

    pub fn len(self: Point) u32 {
        return self.x;
    }
};

test "adds things" {
    main();
}
"#,
        "
            1-1 block std [std]
            3-6 function main [main]
            8-14 class Point [Point len]
            16-18 function adds things [adds things]
        ",
    );
}
