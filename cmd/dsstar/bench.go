package main

import (
	"dsstar/cmd/dsstar/internal/bench"
)

// benchCommands returns the commands of dsstar bench.
func (a *app) benchCommands() *bench.App {
	return &bench.App{
		Host: a.host, Stdout: a.stdout, Stderr: a.stderr, File: a.fileOut(),
		ExitHelp:    exitHelp(benchExits),
		CheckBudget: checkBudget, CheckMethod: checkMethod,
		AgentConfig: agentConfig, Key: a.key, Model: a.model, ModelLine: a.modelLine,
		Prices: prices, Replayed: replayed, NewProgress: a.newProgress, Agree: a.agree, ReadFile: readNamed,
	}
}
