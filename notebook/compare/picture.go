package compare

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	_ "image/jpeg" // decoders for the pictures of outputs
	_ "image/png"
	"strings"
)

// pictureTolerance is how much a pixel's channel may differ, on a scale of 65535: two of 255 steps,
// because libraries round differently.
const pictureTolerance = 2 * 0x101

// maxPixels is the maximum number of pixels of a picture that is decoded.
const maxPixels = 100_000_000

// diffPictures compares the pixels of two pictures in base64. It returns "" if the sizes are equal
// and no channel of a pixel differs by more than pictureTolerance, otherwise a description of the
// difference.
func diffPictures(a, b string) string {
	if a == b {
		return ""
	}
	was, errA := decodePicture(a)
	is, errB := decodePicture(b)
	switch {
	case errA != nil || errB != nil:
		if errA != nil && errB != nil {
			return "the data differ, and neither can be decoded as a picture\n"
		}
		return "one of them cannot be decoded as a picture\n"
	case was.Bounds().Size() != is.Bounds().Size():
		return fmt.Sprintf("-%d x %d pixels\n+%d x %d pixels\n", was.Bounds().Dx(), was.Bounds().Dy(),
			is.Bounds().Dx(), is.Bounds().Dy())
	}
	differing, most, all := 0, uint32(0), was.Bounds().Dx()*was.Bounds().Dy()
	var box image.Rectangle
	for y := range was.Bounds().Dy() {
		for x := range was.Bounds().Dx() {
			d := distance(was, is, x, y)
			if most = max(most, d); d > pictureTolerance {
				differing++
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	if differing == 0 {
		return ""
	}
	return fmt.Sprintf(
		"%d of %d pixels differ (%.2g %%), by up to %d of 255; all of them within x %d to "+
			"%d, y %d to %d\n",
		differing, all, 100*float64(differing)/float64(all), (most+0x80)/0x101, box.Min.X, box.Max.X-1,
		box.Min.Y, box.Max.Y-1)
}

// distance returns the largest difference among the channels of a pixel.
func distance(was, is image.Image, x, y int) uint32 {
	a, b := was.Bounds().Min, is.Bounds().Min
	r1, g1, b1, a1 := was.At(a.X+x, a.Y+y).RGBA()
	r2, g2, b2, a2 := is.At(b.X+x, b.Y+y).RGBA()
	return max(apart(r1, r2), apart(g1, g2), apart(b1, b2), apart(a1, a2))
}

func apart(a, b uint32) uint32 { return max(a, b) - min(a, b) }

func decodePicture(text string) (image.Image, error) {
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return nil, err
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if config.Width*config.Height > maxPixels {
		return nil, fmt.Errorf("a picture of %d x %d pixels", config.Width, config.Height)
	}
	picture, _, err := image.Decode(bytes.NewReader(data))
	return picture, err
}
