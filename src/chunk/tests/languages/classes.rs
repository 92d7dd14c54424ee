//! Languages whose code lives in classes and contracts.

use super::check;

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
