package tables

import "slices"

// The published figures of DS-STAR (arXiv 2509.21825).

const dsStarSource = "DS-STAR (arXiv 2509.21825)"

// paperWay returns the variant of DS-STAR as published, with changed settings.
func paperWay(flags string, setup ...string) *variant {
	v := &variant{"dsstar", map[string]string{"method.paper": "true"}, "--paper"}
	for i := 0; i < len(setup); i += 2 {
		v.setup[setup[i]] = setup[i+1]
	}
	if flags != "" {
		v.flags += " " + flags
	}
	return v
}

func other(agent string) *variant { return &variant{agent: agent} }

func easyAndHard() []column {
	return []column{{"Easy %", 2, accuracyOf(level("easy"))}, {"Hard %", 2, accuracyOf(level("hard"))}}
}

// DS-STAR's figures of Model-only on DABStep are those of DABStep's own baseline, which also
// runs Python. A comparable run must do so, too.
const (
	modelOnly     = "Model-only"
	modelOnlyNote = "Model-only: the figures are those of DABStep's ReAct baseline (dabstep:1), " +
		"with Python, 10 steps and the prompt for models that reason. " +
		"Ours beside them are react --reasoning; a run of model-only, one call without code, stands " +
		"in a row of its own"
)

func dsStar() []Paper {
	const gemini = "Gemini-2.5-Pro"
	dabstep := func(number, title string, rows ...row) Paper {
		p := Paper{Name: "ds-star:" + number, Title: title, Source: dsStarSource + ", table " + number,
			bench: "dabstep", tasks: 450, columns: easyAndHard(), rows: rows,
			notes: []string{"published on the 450 hidden tasks (72 easy, 378 hard): one easy task is " +
				"1.39 points"}}
		if slices.ContainsFunc(rows, func(r row) bool { return r.framework == modelOnly }) {
			p.notes = append(p.notes, modelOnlyNote)
		}
		return p
	}
	ours := row{"DS-STAR", gemini, []float64{87.50, 45.24}, paperWay("")}
	return []Paper{
		dabstep("1", "DABStep",
			row{modelOnly, gemini, []float64{66.67, 12.70}, reasoning()},
			row{modelOnly, "o4-mini", []float64{76.39, 14.55}, reasoning()},
			row{"ReAct", "Claude-4-Sonnet", []float64{81.94, 19.84}, other("react")},
			row{"ReAct", gemini, []float64{69.44, 10.05}, other("react")},
			row{"AutoGen", gemini, []float64{59.72, 10.32}, other("autogen")},
			row{"Data Interpreter", gemini, []float64{72.22, 3.44}, other("data-interpreter")},
			row{"DA-Agent", gemini, []float64{68.06, 22.49}, other("da-agent")},
			row{"Open Data Scientist", "DeepSeek-V3", []float64{84.72, 16.40}, nil},
			row{"Mphasis-I2I-Agents", "Claude-3.5-Sonnet", []float64{80.56, 28.04}, nil},
			row{"Amity DA Agent", gemini, []float64{80.56, 41.01}, nil},
			ours),
		krama(gemini),
		daCodeOfDSStar(gemini),
		dabstep("4", "DABStep without single components, and another model",
			row{"DS-STAR without analyzer", gemini, []float64{75.00, 26.98},
				paperWay("--analyzer none", "method.analyzer", "none")},
			row{"DS-STAR without router", gemini, []float64{79.17, 39.95},
				paperWay("--no-router", "method.router", "false")},
			ours,
			row{"DS-STAR", "GPT-5", []float64{88.89, 43.12}, paperWay("")}),
		costs(gemini),
		dabstep("10", "DABStep with another model for the verifier",
			row{modelOnly, gemini, []float64{66.67, 12.70}, reasoning()},
			row{"Amity DA Agent", gemini, []float64{80.56, 41.01}, nil},
			row{"DS-STAR, verifier Llama 3.1 8B", gemini, []float64{83.33, 42.59},
				paperWay("--role-model verifier=PROVIDER/llama-3.1-8b", "models.verifier", "llama-3.1-8b")},
			ours),
		dabstep("11", "DABStep with a verifier that sees query and plan only",
			row{"DS-STAR, verifier sees query and plan", gemini, []float64{83.33, 43.92},
				paperWay("--verifier-input query-plan", "method.verifier_input", "query-plan")},
			ours),
		dabstep("12", "DABStep with DeepSeek-V3",
			row{"ReAct", "DeepSeek-V3", []float64{66.67, 5.56}, other("react")},
			row{"Open Data Scientist", "DeepSeek-V3", []float64{84.72, 16.40}, nil},
			row{"DS-STAR", "DeepSeek-V3", []float64{79.17, 28.57}, paperWay("")}),
		figure4(gemini),
	}
}

func krama(gemini string) Paper {
	var columns []column
	for _, c := range []struct{ name, domain string }{{"Archaeology", "arch"}, {"Astronomy", "astro"}, {"Biomedical", "bio"},
		{"Environment", "env"}, {"Legal", "legal"}, {"Wildfire", "wild"}} {
		columns = append(columns, column{c.name, 2, accuracyOf(domain(c.domain))})
	}
	columns = append(columns, column{"Total", 2, accuracyOf(nil)})
	oracle := func(v *variant) *variant {
		setup := map[string]string{"data_setting": "oracle"}
		for name, value := range v.setup {
			setup[name] = value
		}
		flags := "--data-setting oracle"
		if v.flags != "" {
			flags = v.flags + " " + flags
		}
		return &variant{v.agent, setup, flags}
	}
	return Paper{Name: "ds-star:2", Title: "KramaBench", Source: dsStarSource + ", table 2",
		bench: "kramabench", tasks: 104, columns: columns,
		notes: []string{
			"most likely scored by the public code of June 2025, whose faults give points to wrong " +
				"answers: dsstar bench score --compat upstream does so too",
			"DS-GURU is KramaBench's own baseline and is not among the agents",
		},
		rows: []row{
			{"Model-only", "o3", []float64{25.00, 1.73, 3.50, 1.35, 3.35, 24.87, 9.64}, other("model-only")},
			{"Model-only", "GPT-4o", []float64{0.00, 1.41, 1.98, 0.45, 1.46, 1.45, 1.62},
				other("model-only")},
			{"Model-only", "Claude-3.5-Sonnet", []float64{16.67, 1.62, 2.87, 1.17, 7.33, 13.63, 7.45},
				other("model-only")},
			{"DS-GURU", "o3", []float64{25.00, 3.53, 8.95, 19.60, 13.89, 50.73, 22.08}, nil},
			{"DS-GURU", "GPT-4o", []float64{16.67, 2.76, 8.97, 2.60, 2.80, 17.18, 8.28}, nil},
			{"DS-GURU", "Claude-3.5-Sonnet", []float64{16.67, 1.52, 1.96, 11.21, 7.01, 39.16, 14.35}, nil},
			{"ReAct", gemini, []float64{16.67, 4.77, 3.69, 26.17, 41.95, 51.40, 30.31}, other("react")},
			{"AutoGen", gemini, []float64{16.67, 4.39, 7.25, 19.38, 26.38, 41.76, 22.83}, other("autogen")},
			{"Data Interpreter", gemini, []float64{41.67, 12.72, 28.05, 9.87, 30.04, 59.67, 31.32},
				other("data-interpreter")},
			{"DA-Agent", gemini, []float64{41.67, 15.52, 12.59, 42.64, 39.73, 61.61, 39.79},
				other("da-agent")},
			{"DS-STAR", gemini, []float64{25.00, 12.09, 43.74, 46.75, 49.64, 65.94, 44.69}, paperWay("")},
			{"ReAct, oracle", gemini, []float64{25.00, 6.36, 3.69, 30.70, 46.93, 51.69, 33.82},
				oracle(other("react"))},
			{"AutoGen, oracle", gemini, []float64{25.00, 5.29, 26.03, 23.46, 39.28, 49.41, 31.77},
				oracle(other("autogen"))},
			{"Data Interpreter, oracle", gemini, []float64{41.67, 13.29, 28.39, 13.09, 32.97, 63.13, 33.57},
				oracle(other("data-interpreter"))},
			{"DA-Agent, oracle", gemini, []float64{41.67, 15.77, 44.26, 44.55, 56.42, 65.92, 48.61},
				oracle(other("da-agent"))},
			{"DS-STAR, oracle", gemini, []float64{25.00, 19.08, 55.24, 58.80, 59.66, 70.18, 52.55},
				oracle(paperWay(""))},
		}}
}

func daCodeOfDSStar(gemini string) Paper {
	columns := append(daCodeColumns(), column{"Total", 1, accuracyOf(nil)})
	da := other("da-agent")
	return Paper{Name: "ds-star:3", Title: "DA-Code", Source: dsStarSource + ", table 3",
		bench: "dacode", tasks: 500, columns: columns,
		notes: []string{"published before DA-Code's scorer was relaxed in January 2026",
			"Data Interpreter was left out, as it does not write the files that are asked for"},
		rows: []row{
			{"DA-Agent", "Mixtral-8x22B", []float64{14.8, 31.6, 10.2, 17.6, 16.8, 8.6, 15.4}, da},
			{"DA-Agent", "DeepSeek-Coder-V2.5", []float64{25.1, 34.1, 14.7, 32.8, 18.7, 14.1, 20.7}, da},
			{"DA-Agent", "Qwen-2.5-72B", []float64{24.9, 41.8, 15.4, 31.9, 19.4, 22.3, 22.6}, da},
			{"DA-Agent", "Claude-3-Opus", []float64{29.3, 46.8, 20.7, 44.7, 23.8, 19.0, 27.6}, da},
			{"DA-Agent", "GPT-4", []float64{30.4, 48.4, 24.6, 45.4, 27.8, 23.4, 30.5}, da},
			{"DA-Agent", gemini, []float64{34.8, 57.2, 31.1, 50.0, 34.2, 32.0, 37.0}, da},
			{"ReAct", gemini, []float64{14.7, 31.2, 22.2, 32.0, 17.9, 25.9, 22.5}, other("react")},
			{"AutoGen", gemini, []float64{25.6, 51.6, 25.6, 38.7, 28.5, 29.6, 30.8}, other("autogen")},
			{"DS-STAR", gemini, []float64{30.4, 57.3, 34.8, 48.9, 35.2, 37.1, 38.5}, paperWay("")},
		}}
}

func costs(gemini string) Paper {
	dev := map[string]string{"split": "dev"}
	return Paper{Name: "ds-star:6", Title: "What a task of DABStep takes", Source: dsStarSource +
		", table 6", bench: "dabstep", tasks: 10,
		columns: []column{{"Calls", 1, meanOf(nil, calls)}, {"Input tokens", 0, meanOf(nil, inTokens)},
			{"Output tokens", 0, meanOf(nil, outTokens)}, {"US dollars", 2, meanCost(nil)}},
		notes: []string{"published: the mean over the 10 development tasks (--split dev), at 1.25 " +
			"and 10 US dollars a million tokens in and out"},
		rows: []row{
			{"ReAct", gemini, []float64{7.1, 44691, 2928, 0.09}, &variant{"react", dev, "--split dev"}},
			{"DA-Agent", gemini, []float64{8.8, 39999, 4123, 0.09},
				&variant{"da-agent", dev, "--split dev"}},
			{"DS-STAR", gemini, []float64{12.7, 154669, 3373, 0.23},
				paperWay("--split dev", "split", "dev")},
		}}
}

// figure4 is the figure about the number of rounds, without the values that the paper shows
// only as a curve.
func figure4(gemini string) Paper {
	p := Paper{Name: "ds-star:fig4", Title: "Rounds on DABStep, and how many there may be",
		Source: dsStarSource + ", figure 4 and section 4.3", bench: "dabstep", tasks: 450,
		columns: append(easyAndHard(),
			column{"Rounds, easy", 1, meanOf(level("easy"), rounds)}, column{"Rounds, hard", 1,
				meanOf(level("hard"), rounds)},
			column{"One round, easy %", 0, once(level("easy"))}, column{"More than one, hard %", 0,
				refined(level("hard"))}),
		notes: []string{"the accuracy with 5, 10 and 15 rounds is published as a curve only",
			"one round for easy tasks: published as more than 50 %"}}
	for _, most := range []string{"5", "10", "15"} {
		p.rows = append(p.rows, row{"DS-STAR, at most " + most + " rounds", gemini, nil,
			paperWay("--max-rounds "+most, "max_rounds", most)})
	}
	p.rows = append(p.rows, row{"DS-STAR, at most 20 rounds", gemini,
		[]float64{87.50, 45.24, 3.0, 5.6, 50, 98}, paperWay("")})
	return p
}

func daCodeColumns() []column {
	return []column{
		{"Wrangling", 1, accuracyOf(domain("data wrangling"))},
		{"ML", 1, accuracyOf(domain("machine learning"))},
		{"EDA", 1, accuracyOf(domain("data insight", "data manipulation", "data visualization",
			"statistical analysis"))},
		{"Easy", 1, accuracyOf(level("easy"))}, {"Medium", 1, accuracyOf(level("medium"))}, {"Hard", 1,
			accuracyOf(level("hard"))},
	}
}
