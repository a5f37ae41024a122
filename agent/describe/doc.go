// Package describe gives every data file its description (DS-STAR, Algorithm 1, lines 2 to 6).
// It is the file's profile, which a program makes; the content of a document is its description.
// Of files of one structure, a family, the first is described, and of the others what differs. For
// files that the program does not understand, or for all, the model writes a script that prints the
// description; a family shares one. Profiles and descriptions are cached by content. The files
// nearest to the question are shown to the model.
//
// A [Describer] does this for one run. It changes the Task and the Descriptions of the run's
// trajectory; concurrent results go through a [Journal].
package describe
