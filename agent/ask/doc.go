// Package ask asks a language model within limits, and reads its replies. It counts calls, tokens
// and cost, sends a reply that cannot be read back once with the rule, and shows less of earlier
// questions, files and outputs when a request is longer than the model's context.
//
// An [Asker] makes the requests of a run's roles, with [Role]. A [Budget] holds its calls to [Limits].
//
// A [Format] reads replies, also as weak models write them: it reads what is clear, and makes an
// error of the rest. A new kind of reply is a struct, such as [Ruling]: its tags make the JSON
// schema for endpoints that take one, and the labels that are read in replies in text.
package ask
