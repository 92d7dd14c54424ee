//! One sample per language: what is a chunk, what it is called, which names it defines.

use super::check;

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
fn csharp() {
    check(
        "src/csharp.cs",
        "csharp",
        r"using System;

namespace App.Core
{
    /// <summary>Keeps users.</summary>
    [Serializable]
    public class Store : IStore
    {
        private const int Max = 3;
        private int n;
        public int Size { get; set; }

        public Store()
        {
        }

        public User Find(string id)
        {
            return null;
        }
    }

    public interface IStore
    {
        User Find(string id);
    }

    enum Color { Red }
}
",
        "
            1-4 block - [App.Core]
            5-21 class Store [Store Max Size Find]
            23-26 type IStore [IStore Find]
            28-29 type Color [Color]
        ",
    );
}

#[test]
fn css() {
    check(
        "src/css.css",
        "css",
        r":root { --a: 1 }

.card .title {
  color: red;
  margin: 0;
  padding: 0;
}

@media (max-width: 600px) {
  .card {
    color: blue;
  }
}
",
        "
            1-1 block :root []
            3-7 block .card .title []
            9-13 block @media (max-width: 600px) []
        ",
    );
}

#[test]
fn dart() {
    check(
        "src/dart.dart",
        "dart",
        r"import 'a.dart';

/// A user.
@immutable
class User extends Base {
  final int id;
  User(this.id);

  @override
  String name(int a) {
    return 'x';
  }

  int get size => 1;
}

mixin Named {
  void title() {}
}

enum Color { red, green }

void main(List<String> args) {
  print(args);
}
",
        "
            1-15 class User [User name size]
            17-19 class Named [Named title]
            21-21 type Color [Color]
            23-25 function main [main]
        ",
    );
}

#[test]
fn elixir() {
    check(
        "src/elixir.ex",
        "elixir",
        r#"defmodule App.Store do
  @moduledoc "Keeps."
  use GenServer

  @doc "Gets."
  @spec get(a) :: b
  def get(key) when is_atom(key) do
    key
  end

  def get(key), do: key

  defp secret(x) do
    x
  end
end

defimpl Proto, for: App.Store do
  def run(x), do: x
end
"#,
        "
            1-16 class App.Store [App.Store get secret]
            18-20 class Proto [run]
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
fn graphql() {
    check(
        "src/graphql.graphql",
        "graphql",
        r#""A user."
type User implements Node {
  id: ID!
}

input Filter {
  name: String
}

query Users {
  users { id }
}

extend type User {
  age: Int
}
"#,
        "
            1-4 type User [User]
            6-8 type Filter [Filter]
            10-12 function Users [Users]
            14-16 class User []
        ",
    );
}

#[test]
fn haskell() {
    check(
        "src/haskell.hs",
        "haskell",
        r#"{-# LANGUAGE GADTs #-}
module Data.Thing (foo) where

import Data.List

-- | Folds.
foo :: Int -> Int
foo 0 = 1
foo n = n

bar = 3

data Tree a
  = Leaf
  | Node a
  deriving Show

class Named a where
  title :: a -> String
  other :: a

instance Named Tree where
  title x = "t"
  other = 1
"#,
        "
            1-4 block - []
            6-9 function foo [foo]
            11-11 function bar [bar]
            13-16 type Tree [Tree]
            18-20 class Named [Named title other]
            22-24 class Named [title other]
        ",
    );
}

#[test]
fn java() {
    check(
        "src/java.java",
        "java",
        r"package a.b;

import java.util.List;

/** Keeps users. */
@Service
public class UserStore extends Base {
    static final int MAX = 3;
    private int n;

    UserStore() {
        n = 1;
    }

    @Override
    public User find(String id) {
        return null;
    }
}

interface Finder {
    User find(String id);
}

enum Color {
    RED, GREEN;
}

record Pair(int a, int b) {
    int sum() { return a + b; }
}
",
        "
            1-19 class UserStore [UserStore MAX find]
            21-23 type Finder [Finder find]
            25-27 type Color [Color]
            29-31 class Pair [Pair sum]
        ",
    );
}

#[test]
fn javascript() {
    check(
        "src/js.js",
        "javascript",
        r"'use strict'

class A {
  x = 1
  handle = () => {
    return 1
  }
}

A.prototype.go = function () {
  return 2
}

exports.run = async () => {
  return 3
}

module.exports = {
  A,
  b: 1,
}

describe('x', () => {
  it('works', () => {})
})
",
        "
            1-8 class A [A handle]
            10-12 function go [go]
            14-16 function run [run]
            18-21 export js []
            23-25 block - []
        ",
    );
}

#[test]
fn kotlin() {
    check(
        "src/kotlin.kt",
        "kotlin",
        r#"package a.b

import x.y

/** A user. */
@Entity
class User(val id: Int) : Base() {
    fun name(): String {
        return "x"
    }

    companion object {
        fun of(id: Int) = User(id)
    }
}

fun String.shout(): String {
    return this
}

object Registry {
    val all = 1
}

typealias Id = Int
val top = 3
"#,
        "
            1-15 class User [User name of]
            17-19 function shout [shout]
            21-23 class Registry [Registry]
            25-26 type Id [Id top]
        ",
    );
}

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
fn php() {
    check(
        "src/php.php",
        "php",
        r"<?php
namespace App\Models;

use App\Base;

/** A user. */
#[Entity]
class User extends Base
{
    const LIMIT = 3;

    public function name(): string
    {
        return $this->name;
    }
}

function helper($a)
{
    return $a;
}

interface HasName
{
    public function name();
}
",
        "
            1-4 block - []
            6-16 class User [User LIMIT name]
            18-21 function helper [helper]
            23-26 type HasName [HasName name]
        ",
    );
}
