package llm

import (
	"encoding/base64"

	"github.com/openai/openai-go/v3"
)

// An Image is a picture that goes with a request. A trace has its name only.
type Image struct {
	Name string // for the trace: "step 2, output 1", "files/chart.png"
	MIME string // image/png or image/jpeg
	Data []byte
}

// imageWords are in the errors of endpoints and models that take no images.
var imageWords = []string{
	"image", "vision", "multimodal", "multi-modal", "content type", "content must be a string",
	"content should be a string", "content: invalid type",
}

// namesOf returns the names of images.
func namesOf(images []Image) (names []string) {
	for _, i := range images {
		names = append(names, i.Name)
	}
	return names
}

// withImages returns a user message of a text and images.
func withImages(text string, images []Image) openai.ChatCompletionMessageParamUnion {
	if len(images) == 0 {
		return openai.UserMessage(text)
	}
	parts := []openai.ChatCompletionContentPartUnionParam{openai.TextContentPart(text)}
	for _, i := range images {
		data := "data:" + i.MIME + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
		parts = append(parts, openai.ImageContentPart(
			openai.ChatCompletionContentPartImageImageURLParam{URL: data}))
	}
	return openai.UserMessage(parts)
}
