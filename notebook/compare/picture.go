package compare

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/draw"
	_ "image/jpeg" // decoders for the pictures of outputs
	_ "image/png"
	"strings"
)

// maxPixels is the maximum number of pixels of a picture that is decoded.
const maxPixels = 100_000_000

// diffPictures compares two pictures in base64. It returns "" if their pixels are the same.
func diffPictures(a, b string, _ float64) string {
	if a == b {
		return ""
	}
	was, is := pixels(a), pixels(b)
	switch {
	case was == nil || is == nil:
		return "the data differ, and are not those of two pictures\n"
	case was.Rect != is.Rect:
		return fmt.Sprintf("-%d x %d pixels\n+%d x %d pixels\n", was.Rect.Dx(), was.Rect.Dy(),
			is.Rect.Dx(), is.Rect.Dy())
	case bytes.Equal(was.Pix, is.Pix):
		return ""
	}
	return fmt.Sprintf("another picture of %d x %d pixels\n", was.Rect.Dx(), was.Rect.Dy())
}

// pixels decodes a picture; nil if that cannot be done.
func pixels(text string) *image.RGBA {
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return nil
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || config.Width*config.Height > maxPixels {
		return nil
	}
	picture, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	all := image.NewRGBA(image.Rect(0, 0, config.Width, config.Height))
	draw.Draw(all, all.Rect, picture, picture.Bounds().Min, draw.Src)
	return all
}
