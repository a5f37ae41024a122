package agent

import (
	"encoding/base64"
	"fmt"
	"slices"

	"dsstar/agent/llm"
)

// The bounds of the pictures that a judge is shown.
const (
	maxPictures     = 3
	maxPictureBytes = 2 << 20 // of each
)

// pictures returns what the judge looks at: the pictures that the accepted cells of this question
// show, the last first.
func (r *run) pictures() (all []llm.Image) {
	for step, round := range slices.Backward(r.t.Accepted()) {
		a, _ := round.Accepted()
		for i, o := range slices.Backward(a.Execution.Outputs) {
			for _, mime := range []string{"image/png", "image/jpeg"} {
				text, _ := o.Data[mime].(string)
				data, _ := base64.StdEncoding.DecodeString(text)
				if len(data) > 0 && len(data) <= maxPictureBytes && len(all) < maxPictures {
					name := fmt.Sprintf("step %d, output %d", step+1, i+1)
					all = append(all, llm.Image{Name: name, MIME: mime, Data: data})
				}
			}
		}
	}
	return all
}
