// Package reply reads the model's replies: code, a step, a verdict, a route, a choice. A
// [Format] reads one kind of them. Replies come in many forms, which are read as long as they
// say one thing. A reply that says two things is an error; it is never guessed.
package reply
