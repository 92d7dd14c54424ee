//! Functional languages.

use super::check;

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
