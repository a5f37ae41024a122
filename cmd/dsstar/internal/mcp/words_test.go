package mcp

import (
	"strings"
	"testing"
)

// TestAnswerFirst: the text begins with the answer and what it is worth, and says whose words
// follow.
func TestAnswerFirst(t *testing.T) {
	said := answerInWords([]byte(`{"answer": "USA", "worth": "Verified: so far.", "verified": true,
		"summary": "Japan has more than the USA.", "summary_label": "Their words"}`))
	if !strings.HasPrefix(said, "Answer: USA\nVerified: so far.\nTheir words: Japan") {
		t.Error(said)
	}
}
