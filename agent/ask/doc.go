// Package ask asks a language model within limits. It counts calls, tokens and cost, sends a
// reply that cannot be read back once with the rule, and shows less of files and outputs when a
// request is longer than the model's context.
//
// A [Caller] makes single calls, with [Model]. An [Asker] makes the requests of a run's roles,
// with [Role]. A [Budget] holds the calls of either to [Limits].
package ask
