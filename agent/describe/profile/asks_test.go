package profile

import "testing"

func TestAsks(t *testing.T) {
	for _, c := range []struct {
		question, column string
		want             bool
	}{
		{"What is the mean of wind speed (WINDSPEED)?", " WINDSPEED", true},
		{"missing values of the temperature (AT)", "AT", true},
		{"the mean at noon", "AT", false},
		{"a mean", "a", false},
		{"the average age of the patients", "Age", true},
		{"What are the histological grades of tumors?", "Histologic_Grade_FIGO", true},
		{"What are the histological grades of tumors?", "Histologic_type", false},
		{"the gross rate", "grossRate", true},
		{"the population density of Peru", "Density\n(P/Km2)", true},
		{"the population density of Peru", `"Density\n(P/Km2)"`, true},
		{"the share of types", "type", true},
		{"the weight class", "weight_in_kg", true},
		{"5 kg of flour", "height_in_kg", false},
	} {
		if got := asks(c.question, c.column); got != c.want {
			t.Errorf("asks(%q, %q) = %v", c.question, c.column, got)
		}
	}
}

func TestAsked(t *testing.T) {
	kinds := Column{Name: "Histologic_type", Type: "text", Among: []string{"Serous", "Clear cell"}}
	for _, c := range []struct {
		question string
		want     bool
	}{
		{"the age of patients with serous tumors", true},
		{"how many clear cells are there", true},
		{"the age of no patient", false},
		{"the age of patients with a histologic finding", false},
		{"each type", false},
	} {
		if got := asks(c.question, kinds.Name) || len(kinds.named(c.question)) > 0; got != c.want {
			t.Errorf("%q: %v", c.question, got)
		}
	}
	if asks("samples with a tumor", "Samples_With_Peptide") {
		t.Error("a small word counts")
	}
}
