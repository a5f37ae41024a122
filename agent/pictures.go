package agent

import (
	"encoding/base64"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"dsstar/agent/llm"
)

// The bounds of the pictures that a judge is shown.
const (
	maxPictures     = 3
	maxPictureBytes = 2 << 20 // of each
)

// pictureTypes are the MIME types of pictures that models take, by the ends of their names.
var pictureTypes = map[string]string{".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg"}

// pictures returns what the judge looks at: the pictures that the question asks for, then those that
// the accepted cells of this question show, the last first.
func (r *run) pictures() (all []llm.Image) {
	add := func(name, mime string, data []byte) {
		if mime != "" && len(data) > 0 && len(data) <= maxPictureBytes && len(all) < maxPictures {
			all = append(all, llm.Image{Name: name, MIME: mime, Data: data})
		}
	}
	if folder := r.work.filesWritten(); folder != nil {
		defer folder.Close()
		for _, name := range formOf(r.t.Task).files {
			if f, err := folder.Open(name); err == nil {
				data, _ := io.ReadAll(io.LimitReader(f, maxPictureBytes+1))
				f.Close()
				add(name, pictureTypes[strings.ToLower(path.Ext(name))], data)
			}
		}
	}
	for step, round := range slices.Backward(r.t.Accepted()) {
		a, _ := round.Accepted()
		for i, o := range slices.Backward(a.Execution.Outputs) {
			for _, mime := range []string{"image/png", "image/jpeg"} {
				text, _ := o.Data[mime].(string)
				if data, err := base64.StdEncoding.DecodeString(text); err == nil {
					add(fmt.Sprintf("step %d, output %d", step+1, i+1), mime, data)
				}
			}
		}
	}
	return all
}
