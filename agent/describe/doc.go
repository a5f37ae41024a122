// Package describe gives every data file its description (DS-STAR, Algorithm 1, lines 2 to 6).
// It is the file's profile, which a program makes; the content of a document is its description.
// Of files of one structure, a family, the nearest to the question is described, and of the others
// what differs. As published, the model writes a script for each file that prints its description.
// Profiles are cached by content. The files nearest to the question are shown to the model.
//
// A [Describer] does this for one run. It changes the Task and the Descriptions of the run's
// trajectory; concurrent results go through a [Journal].
package describe
