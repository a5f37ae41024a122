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

// pictureTolerance is how much a pixel's channel may differ, of 255, because libraries round
// differently.
const pictureTolerance = 2

// maxPixels is the maximum number of pixels of a picture that is decoded.
const maxPixels = 100_000_000

// diffPictures compares the pixels of two pictures in base64. It returns "" if the sizes are equal
// and no channel of a pixel differs by more than pictureTolerance.
func diffPictures(a, b string) string {
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
	}
	differing, all := 0, len(was.Pix)/4
	for i := range all {
		for c := 4 * i; c < 4*i+4; c++ {
			if x, y := was.Pix[c], is.Pix[c]; max(x, y)-min(x, y) > pictureTolerance {
				differing++
				break
			}
		}
	}
	if differing == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d pixels differ (%.2g %%)\n", differing, all,
		100*float64(differing)/float64(all))
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
