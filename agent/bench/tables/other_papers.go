package tables

import (
	"slices"

	"dsstar/agent/bench/runner"
)

// reasoning is ReAct with the prompt for reasoning models.
func reasoning() *variant {
	return &variant{"react", map[string]string{"reasoning": "true"}, "--reasoning"}
}

// dabStep returns the figures of DABStep (arXiv 2506.23719) for its ReAct baseline with at most
// 10 steps.
func dabStep() []Paper {
	p := Paper{Name: "dabstep:1", Title: "Baselines on DABStep",
		Source: "DABStep (arXiv 2506.23719), table 1", bench: "dabstep",
		columns: []column{{"Hard %", 2, accuracyOf(level("hard"))},
			{"Easy %", 2, accuracyOf(level("easy"))}, {"All tasks, US dollars", 2, totalCost}},
		tasks: 450,
		notes: []string{"published on the 450 hidden tasks",
			"o4-mini, o3-mini, o1, R1 and Gemini 2.5 Pro had the prompt for models that reason (section " +
				"4.1): --reasoning",
			"models that ran without a price have no cost"}}
	reason := []string{"o4-mini", "o3-mini", "o1", "Deepseek R1", "Gemini 2.5 Pro"}
	for _, r := range []struct {
		model            string
		hard, easy, cost float64
	}{
		{"o4-mini", 14.55, 76.39, 93}, {"Claude 3.7 Sonnet", 13.76, 75.00, 139}, {"o3-mini",
			13.76, 72.22, 85},
		{"Gemini 2.5 Pro", 12.70, 66.67, 270}, {"GPT 4.1", 12.43, 80.56, 155}, {"o1", 11.11, 69.44, 435},
		{"Deepseek R1", 11.04, 68.21, 3}, {"Claude 3.5 Sonnet", 9.26, 77.78, 97}, {"Llama 4 Maverick",
			8.73, 75.00, none},
		{"GPT-4o", 6.08, 66.67, 53}, {"Deepseek V3", 5.56, 66.67, 2}, {"Claude 3.5 Haiku",
			5.03, 77.78, 35},
		{"Llama 3.3 70B", 3.70, 68.06, none}, {"GPT-4o-mini", 3.44, 69.44, 3}, {"Llama 4 Scout", 1.85,
			52.78, none}, {"Llama 3.2 1B", 0.00, 1.39, none},
	} {
		run := other("react")
		if slices.Contains(reason, r.model) {
			run = reasoning()
		}
		p.rows = append(p.rows, row{"ReAct, 10 steps", r.model, []float64{r.hard, r.easy, r.cost}, run})
	}
	return []Paper{p}
}

// daCode returns the figures of DA-Code (arXiv 2410.07331) that two copies of the paper agree
// on; some copies have the tables as pictures. The rates and table 4 are from the HTML of the
// paper's first version.
func daCode() []Paper {
	rates := []column{{"Completion %", 1, completion}, {"Steps", 1, meanOf(nil, rounds)},
		{"Executable %", 1, executable}}
	da := other("da-agent")
	from := "the rates, and what is published of GPT-4o, can be read at arxiv.org/html/2410.07331v1"
	return []Paper{
		{Name: "da-code:3", Title: "DA-Agent on DA-Code", Source: "DA-Code (arXiv 2410.07331), table 3",
			bench: "dacode", tasks: 500,
			columns: append(append(daCodeColumns(), column{"Total", 1, accuracyOf(nil)}), rates...),
			notes: []string{"at most 20 steps, the last 15 of which are shown to the model",
				"published before the scorer was relaxed in January 2026", from},
			rows: []row{
				{"DA-Agent", "Mixtral-8x22B", []float64{14.8, 31.6, 10.2, 17.6, 16.8, 8.6, 15.4}, da},
				{"DA-Agent", "DeepSeek-Coder-V2.5", []float64{25.1, 34.1, 14.7, 32.8, 18.7, 14.1, 20.7}, da},
				{"DA-Agent", "Qwen-2.5-72B", []float64{24.9, 41.8, 15.4, 31.9, 19.4, 22.3, 22.6, 93.8,
					none, 72.2}, da},
				{"DA-Agent", "Claude-3-Opus", []float64{29.3, 46.8, 20.7, 44.7, 23.8, 19.0, 27.6}, da},
				{"DA-Agent", "GPT-4o", []float64{none, none, none, none, none, none, 29.1, 97.4,
					none, 77.7}, da},
				{"DA-Agent", "GPT-4", []float64{30.4, 48.4, 24.6, 45.4, 27.8, 23.4, 30.5, 99.4,
					none, 76.8}, da},
			}},
		{Name: "da-code:4", Title: "Frameworks on DA-Code-100",
			Source: "DA-Code (arXiv 2410.07331), table 4", bench: "dacode", tasks: 100,
			columns: append([]column{{"Score", 1, accuracyOf(nil)}}, rates...),
			notes: []string{"published on 100 tasks chosen at random, which --ids must name",
				"the figures can be read at arxiv.org/html/2410.07331v1"},
			rows: []row{
				{"OpenDevin", "GPT-4", []float64{26.2, 96.0}, nil},
				{"AutoGen", "GPT-4", nil, other("autogen")},
				{"DA-Agent", "GPT-4", []float64{31.5, 99.5}, da},
				{"DA-Agent with reference plan", "GPT-4", []float64{39.7, 97.7}, nil},
				{"DA-Agent, last 5 steps", "GPT-4", nil, &variant{"da-agent",
					map[string]string{"max_history": "5"}, "--max-history 5"}},
				{"DA-Agent, last 10 steps", "GPT-4", nil, &variant{"da-agent",
					map[string]string{"max_history": "10"}, "--max-history 10"}},
			}},
	}
}

// dataInterpreter returns the figures of Data Interpreter (arXiv 2402.18679). Its benchmarks
// are read as a folder of tasks (--bench dir) with these domains.
func dataInterpreter() []Paper {
	const gpt = "GPT-4-Turbo"
	di := other("data-interpreter")
	source := "Data Interpreter (arXiv 2402.18679), table "
	comprehensive := "of each task: half of the completion rate and half of the normalised " +
		"performance score. Nothing here computes that: " +
		"ours are only what records have as a score CS"
	sets := func(measured func(string) measure, names ...string) []column {
		var all []column
		for _, name := range names {
			all = append(all, column{name, 2, measured(name)})
		}
		return all
	}
	rated := func(score string, names ...string) []column {
		all := sets(func(name string) measure { return partOf(score, exactly(name)) }, names...)
		return append(all, column{"Avg.", 2, partOf(score, nil)})
	}
	return []Paper{
		{Name: "data-interpreter:1", Title: "ML-Benchmark", Source: source + "1", bench: "dir",
			unscored: true, notes: []string{comprehensive},
			columns: rated("CS", "WR", "BCW", "Titanic", "House Prices", "SCTP", "ICR", "SVPC"),
			rows: []row{
				{"AutoGen", gpt, []float64{0.96, 0.99, 0.87, 0.86, 0.83, 0.77, 0.73, 0.86}, other("autogen")},
				{"Open Interpreter", gpt, []float64{1.00, 0.93, 0.86, 0.87, 0.68, 0.58, 0.44, 0.77}, nil},
				{"TaskWeaver", gpt, []float64{1.00, 0.98, 0.63, 0.68, 0.34, 0.74, 0.48, 0.69}, nil},
				{"XAgent", gpt, []float64{1.00, 0.97, 0.42, 0.42, 0, 0.34, 0.01, 0.45}, nil},
				{"Data Interpreter", gpt, []float64{0.98, 0.99, 0.91, 0.96, 0.94, 0.96, 0.89, 0.95}, di},
			}},
		{Name: "data-interpreter:2", Title: "Open-ended tasks", Source: source + "2", bench: "dir",
			notes: []string{"completion rates as people judged them; most of the tasks need the network " +
				"and cannot be replicated without",
				"ours are only what records have as a score CR"},
			columns: rated("CR", "OCR", "WSC", "ER", "WPI", "IBR", "T2I", "I2C", "MGG"),
			rows: []row{
				{"AutoGen", gpt, []float64{0.67, 0.65, 0.10, 0.26, 1.00, 0.10, 0.20, 0.67, 0.46}, nil},
				{"Open Interpreter", gpt, []float64{0.50, 0.30, 0.10, 0.36, 1.00, 0.50, 0.25, 0.20, 0.40}, nil},
				{"Data Interpreter", gpt, []float64{0.85, 0.96, 0.98, 1.00, 1.00, 1.00, 1.00, 0.93, 0.97}, nil},
			}},
		{Name: "data-interpreter:3", Title: "ML-Benchmark without single components", Source: source +
			"3", bench: "dir", unscored: true, notes: []string{comprehensive},
			columns: rated("CS", "House Prices", "SCTP", "SVPC", "ICR"),
			rows: []row{
				{"Code execution only", gpt, []float64{0.51, 0.17, 0.66, 0.17, 0.37}, other("react")},
				{"with dynamic plan", gpt, []float64{0.96, 0.91, 0.80, 0.74, 0.85},
					&variant{"data-interpreter", map[string]string{"tools": "false"}, "--no-tools"}},
				{"with dynamic plan and tools", gpt, []float64{0.96, 0.95, 0.89, 0.96, 0.94}, di},
			}},
		{Name: "data-interpreter:4", Title: "Debugging and cost with an experience pool", Source: source +
			"4", bench: "dir",
			notes: []string{"NDA: debugging attempts of a task",
				"how many experiences the pool of a run has had (--pool FILE) is not recorded: such runs " +
					"stand below"},
			columns: append(append(sets(func(name string) measure { return meanOf(exactly(name), debugTries) }, "WSC", "ER", "Titanic", "House Prices", "ICR"),
				column{"NDA", 2, meanOf(nil, debugTries)}), column{"US dollars", 2, meanCost(nil)}),
			rows: []row{
				{"Data Interpreter, pool of 0", gpt, []float64{1.50, 1.50, 1.40, 1.60, 1.40, 1.48, 0.80}, di},
				{"Data Interpreter, pool of 80", gpt, []float64{0.80, 0.25, 0.40, 0.60, 0.60, 0.53, 0.31}, nil},
				{"Data Interpreter, pool of 200", gpt, []float64{0.40, 0, 0.40, 0.40, 0.40, 0.32, 0.24}, nil},
			}},
	}
}

// exactly selects the tasks of one domain.
func exactly(name string) func(runner.Item) bool {
	return func(i runner.Item) bool { return plain(i.Domain) == plain(name) }
}
