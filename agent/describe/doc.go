// Package describe gives every data file its description (DS-STAR, Algorithm 1, lines 2 to 6).
// The description of a small text is its content; that of any other file is what a script
// written by the model prints about it. Files of one structure, a family, share a script, and
// descriptions are cached by content. The files nearest to the question are shown to the model.
//
// A [Describer] does this for one run. It changes the Task and the Descriptions of the run's
// trajectory; concurrent results go through a [Journal].
package describe
