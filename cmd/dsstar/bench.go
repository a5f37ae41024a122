package main

import (
	"cmp"

	"dsstar/agent"
	"dsstar/cmd/dsstar/internal/bench"
	"dsstar/configs"
)

// benchCommands returns the commands of dsstar bench.
func (a *app) benchCommands() *bench.App {
	return &bench.App{
		Host: a.host, Stderr: a.stderr,
		ExitHelp: exitHelp,
		Check:    func(s *configs.Settings) error { return cmp.Or(checkBudget(s), checkMethod(s)) },
		AgentConfig: func(s *configs.Settings) agent.Config {
			config := agentConfig(s)
			config.Key = a.key()
			return config
		},
		Model: a.model, ModelLine: a.modelLine, NewProgress: a.newProgress, Agree: a.agree,
	}
}
