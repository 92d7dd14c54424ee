//! Scripting languages.

use super::check;

#[test]
fn lua() {
    check(
        "src/lua.lua",
        "lua",
        r"local M = {}

-- Adds.
function M.add(a, b)
  return a + b
end

function M:close()
  self.open = false
end

local function helper()
  return 1
end

M.run = function(x)
  return x
end

return M
",
        "
            1-1 block M [M]
            3-6 function add [add]
            8-10 function close [close]
            12-14 function helper [helper]
            16-20 function run [run]
        ",
    );
}

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
fn shellscript() {
    check(
        "src/bash.sh",
        "shellscript",
        r#"#!/bin/bash
set -e
ROOT=/tmp

# Prints.
say() {
  echo "$1"
}

function build {
  make all
}

say hello
"#,
        "
            1-3 block - [ROOT]
            5-8 function say [say]
            10-14 function build [build]
        ",
    );
}
