//! Languages of web pages and their servers.

use super::check;

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
