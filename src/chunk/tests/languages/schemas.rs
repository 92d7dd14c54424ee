//! Languages that describe interfaces and infrastructure.

use super::check;

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
