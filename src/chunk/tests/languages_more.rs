//! One sample per language: what is a chunk, what it is called, which names it defines.

use super::check;

#[test]
fn powershell() {
    check(
        "src/powershell.ps1",
        "powershell",
        r#"$Root = "x"

# Gets it.
function Get-Thing {
    param($a)
    return $a
}

class Store {
    [int]$x
    [int] Size([int]$a) {
        return $a
    }
}
"#,
        "
            1-7 function Get-Thing [Get-Thing]
            9-14 class Store [Store Size]
        ",
    );
}

#[test]
fn proto() {
    check(
        "src/proto.proto",
        "proto",
        r#"syntax = "proto3";
package a.b;

// A user.
message User {
  int32 id = 1;
}

enum Color {
  RED = 0;
}

service Users {
  rpc Find(User) returns (User);
}
"#,
        "
            1-7 type User [User]
            9-11 type Color [Color]
            13-15 class Users [Users Find]
        ",
    );
}

#[test]
fn python() {
    check(
        "src/python.py",
        "python",
        r#"import os
from a import b

TIMEOUT = 30

@cached
class Store(Base):
    """Keeps things."""

    def get(self, key):
        return self.data[key]

    @property
    def size(self):
        return 1

# Loads it.
async def load(path):
    """Loads a file."""
    return open(path)

if __name__ == "__main__":
    load("x")
"#,
        "
            1-4 block - [TIMEOUT]
            6-15 class Store [Store get size]
            17-23 function load [load]
        ",
    );
}

#[test]
fn r() {
    check(
        "src/r.r",
        "r",
        r"library(x)

#' Adds.
add <- function(a, b) {
  a + b
}

limit = 3
",
        "
            1-6 function add [add]
            8-8 block limit [limit]
        ",
    );
}

#[test]
fn ruby() {
    check(
        "src/ruby.rb",
        "ruby",
        r#"require "x"

module Admin
  LIMIT = 3

  # A user.
  class User < Base
    def name
      @name
    end

    def self.find(id)
      new
    end

    private def secret
      1
    end
  end
end
"#,
        "
            1-20 class User [Admin LIMIT User name find secret]
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
fn scala() {
    check(
        "src/scala.scala",
        "scala",
        r"package a.b

import x.y

/** A user. */
class User(id: Int) extends Base {
  def name(a: Int): Int = {
    a
  }
  val z = 1
}

object User {
  def apply(id: Int) = new User(id)
}

trait Named {
  def title: String
}

enum Color {
  case Red, Green
}
",
        "
            1-11 class User [User name]
            13-15 class User [User apply]
            17-19 class Named [Named title]
            21-23 type Color [Color]
        ",
    );
}

#[test]
fn scss() {
    check(
        "src/scss.scss",
        "scss",
        r"$size: 1px;

@mixin center($a) {
  margin: auto;
}

.card {
  .title {
    color: red;
  }
}
",
        "
            1-5 function center [center]
            7-11 block .card []
        ",
    );
}

#[test]
fn solidity() {
    check(
        "src/solidity.sol",
        "solidity",
        r"pragma solidity ^0.8.0;

/// A token.
contract Token is Base {
    uint x;
    event Sent(uint a);
    constructor() {
    }
    function send(uint a) public {
        x = a;
    }
    modifier owner() { _; }
}
",
        "
            1-13 class Token [Token Sent constructor send owner]
        ",
    );
}

#[test]
fn swift() {
    check(
        "src/swift.swift",
        "swift",
        r#"import Foundation

/// A user.
class User: Base {
    var id: Int = 1
    init(id: Int) {
        self.id = id
    }
    func name() -> String {
        return "x"
    }
}

extension User: Named {
    func title() {}
}

struct Point {
    let x: Int
}

protocol Named {
    func title()
}

func top() {
    print(1)
}
"#,
        "
            1-12 class User [User init name]
            14-16 class User [title]
            18-20 type Point [Point]
            22-24 type Named [Named title]
            26-28 function top [top]
        ",
    );
}

#[test]
fn terraform() {
    check(
        "src/terraform.tf",
        "terraform",
        r#"# The bucket.
resource "aws_s3_bucket" "logs" {
  bucket = "x"
  acl    = "private"
  tags   = {}
}

variable "region" {
  default = "eu"
}

locals {
  a = 1
}
"#,
        "
            1-6 block resource.aws_s3_bucket.logs [resource.aws_s3_bucket.logs logs]
            8-14 block - [variable.region region locals]
        ",
    );
}

#[test]
fn typescript() {
    check(
        "src/ts.ts",
        "typescript",
        r"import a from 'b'

@Injectable()
export class Service {
  private x = 1
  run(): void {}
}

declare module 'y' {
  interface Q {}
}

namespace N {
  export function z() {}
}

export default {
  name: 'x',
  data() { return 1 },
}

export { a } from 'x'
",
        "
            1-7 class Service [Service run]
            9-11 class y [y Q]
            13-15 class N [N z]
            17-22 export ts []
        ",
    );
}

#[test]
fn typescriptreact() {
    check(
        "src/tsx.tsx",
        "typescriptreact",
        r"import React from 'react'

export const Button = ({ label }: Props) => {
  return <button>{label}</button>
}

export function useThing() {
  return <div/>
}

function user() {
  return 1
}

const Card = React.memo(function Card() {
  return <div/>
})

export default class extends React.Component {
  render() { return <p/> }
}
",
        "
            1-5 component Button [Button]
            7-9 hook useThing [useThing]
            11-13 function user [user]
            15-17 component Card [Card]
            19-21 class tsx [tsx render]
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
