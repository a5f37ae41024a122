package agent

import (
	"encoding/base64"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"dsstar/agent/llm"
	"dsstar/notebook"
)

// The bounds of the pictures that a judge is shown.
const (
	maxPictures     = 3
	maxPictureBytes = 2 << 20 // of each
)

// pictures returns what the judge looks at: the pictures that the question asks for, then those that
// the accepted cells of this question show, the last first.
func (r *run) pictures() (all []llm.Image) {
	if folder := r.work.filesWritten(); folder != nil {
		defer folder.Close()
		for _, name := range formOf(r.t.Task).files {
			f, err := folder.Open(name)
			if err != nil {
				continue
			}
			data, err := io.ReadAll(io.LimitReader(f, maxPictureBytes+1))
			f.Close()
			mime := pictureTypes[strings.ToLower(path.Ext(name))]
			if mime != "" && err == nil && len(data) > 0 && len(data) <= maxPictureBytes {
				all = append(all, llm.Image{Name: name, MIME: mime, Data: data})
			}
		}
	}
	for step, round := range slices.Backward(r.t.Accepted()) {
		a, _ := round.Accepted()
		for i, o := range slices.Backward(a.Execution.Outputs) {
			if image, ok := pictureOf(o); ok {
				image.Name = fmt.Sprintf("step %d, output %d", step+1, i+1)
				all = append(all, image)
			}
		}
	}
	return all[:min(len(all), maxPictures)]
}

// pictureTypes are the MIME types of pictures that models take, by the ends of their names.
var pictureTypes = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg",
}

// pictureOf returns the picture that an output shows.
func pictureOf(o notebook.Output) (image llm.Image, ok bool) {
	for _, mime := range []string{"image/png", "image/jpeg"} {
		text, _ := o.Data[mime].(string)
		text = strings.Join(strings.Fields(text), "")
		if text == "" || base64.StdEncoding.DecodedLen(len(text)) > maxPictureBytes {
			continue
		}
		if data, err := base64.StdEncoding.DecodeString(text); err == nil {
			return llm.Image{MIME: mime, Data: data}, true
		}
	}
	return image, false
}
