package configs_test

import (
	"fmt"
	"log"

	"dsstar/configs"
)

func ExampleLoad() {
	settings, err := configs.Load(configs.Sources{
		Env:   []string{"DSSTAR_MAX_ROUNDS=8", "DSSTAR_MAX_CALLS=100"},
		Flags: map[string]configs.Flag{"max_rounds": {Name: "--max-rounds", Value: "5"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(settings.MaxRounds, settings.MaxCalls)
	// Output: 5 100
}
