package main

// What tests already ask for and the program does not do yet. Whoever makes it true sets it so.
const (
	carriesVariables = false // the proof has the user's variables, and the cells' own names do not stay with the user
	volatileLast     = false // what differs from run to run is all in the last cell
	dollarsAreText   = false // "$5 or $7" in the words of a person or a model is no mathematics in JupyterLab
)
