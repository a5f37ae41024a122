package files

import (
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"fmt"
	"image"
	_ "image/gif" // the formats whose sizes are known
	_ "image/jpeg"
	_ "image/png"
	"io"
	"path"
	"strings"

	"github.com/gabriel-vasile/mimetype"
)

// magics are data formats that mimetype does not recognize.
var magics = []struct{ start, kind, format string }{
	{"\x89HDF\r\n\x1a\n", "HDF5", "hdf5"},
	{"CDF\x01", "NetCDF", "netcdf"}, {"CDF\x02", "NetCDF", "netcdf"}, {"CDF\x05", "NetCDF", "netcdf"},
	{"\x93NUMPY", "NumPy array", "npy"},
	{"ARROW1", "Arrow (Feather)", "arrow"}, {"FEA1", "Feather, version 1", "arrow"},
	{"Obj\x01", "Avro", "avro"}, {"ORC", "ORC", "orc"},
	{"<stata_dta>", "Stata", "stata"}, {"$FL2", "SPSS", "spss"},
	{"HEADER RECORD*******", "SAS transport", "sas"},
	{"MATLAB 5.0 MAT-file", "MATLAB", "matlab"},
	{"\x80\x04\x95", "Python pickle", "pickle"}, {"\x80\x05\x95", "Python pickle", "pickle"},
	{"\x80\x03", "Python pickle", "pickle"}, {"\x80\x02", "Python pickle", "pickle"},
}

// binary looks at a file that is not text.
func (s source) binary() Look {
	for _, m := range magics {
		if bytes.HasPrefix(s.start, []byte(m.start)) {
			return Look{Kind: m.kind, Format: m.format, Shape: s.alone(m.format)}
		}
	}
	m := mimetype.Detect(s.start[:min(len(s.start), 8<<10)])
	mime, format := m.String(), strings.TrimPrefix(m.Extension(), ".")
	switch {
	case format == "gz":
		return s.packed("gzip", func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) })
	case format == "bz2":
		return s.packed("bzip2", func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil })
	case bytes.HasPrefix(s.start, []byte("PK")):
		return s.zip(mime, format)
	case strings.HasPrefix(mime, "image/"):
		return s.image(mime)
	case format == "sqlite":
		return s.sqlite()
	case format == "pdf":
		return Look{Kind: "PDF document", Format: "pdf", Shape: s.alone("pdf")}
	case format == "parquet":
		return Look{Kind: "Parquet", Format: "parquet", Shape: s.alone("parquet")}
	case format == "xls" || mime == "application/x-ole-storage" &&
		strings.EqualFold(path.Ext(s.name), ".xls"):
		return Look{Kind: "Excel 97 workbook", Format: "xls", Shape: s.alone("xls")}
	case strings.HasPrefix(mime, "application/octet-stream") || strings.HasPrefix(mime, "text/") ||
		format == "":
		return Look{Kind: "binary", Format: "binary", Shape: s.alone("binary")}
	}
	return Look{Kind: "binary, " + mime, Format: format, Shape: s.alone(format)}
}

// image looks at a picture. All pictures of a folder form one family, because their names rarely
// follow a pattern.
func (s source) image(mime string) Look {
	kind := strings.ToUpper(strings.TrimPrefix(strings.TrimPrefix(mime, "image/"), "x-")) + " image"
	if c, _, err := image.DecodeConfig(io.NewSectionReader(s.r, 0, mostBytes)); err == nil {
		kind += fmt.Sprintf(", %d x %d", c.Width, c.Height)
	}
	return Look{Kind: kind, Format: "image", Shape: shape("image", mime, collapse(path.Dir(s.name)))}
}

// packed looks at the beginning of a file's decompressed content.
func (s source) packed(format string, unpack func(io.Reader) (io.Reader, error)) Look {
	damaged := Look{Kind: format + "-compressed, damaged", Format: format, Shape: s.alone(format)}
	r, err := unpack(io.NewSectionReader(s.r, 0, mostBytes))
	if err != nil {
		return damaged
	}
	const most = mostBytes
	b, err := io.ReadAll(io.LimitReader(r, most))
	if len(b) == 0 && err != nil {
		return damaged
	}
	// If decompression stopped early, this is only a lower bound.
	size := int64(len(b))
	if err != nil || size == most {
		size++
	}
	inner := source{r: bytes.NewReader(b), name: strings.TrimSuffix(s.name, path.Ext(s.name)),
		size: size, head: s.head}
	inner.start = b[:min(int64(len(b)), inner.most())]
	look, ok := inner.text()
	if !ok {
		look = Look{Kind: "binary"}
		if m := mimetype.Detect(b[:min(len(b), 8<<10)]); m.Extension() != "" {
			look.Kind = strings.ToUpper(m.Extension()[1:])
		}
	}
	if look.Shape == "" || len(b) == 0 {
		look.Shape = s.alone("")
	}
	if err != nil && s.size <= mostBytes {
		look.Kind += ", damaged"
	}
	look.Kind, look.Format = format+"-compressed "+look.Kind, format
	look.Shape = shape(format, look.Shape)
	return look
}
