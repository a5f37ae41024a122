package files

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	sumWhole   = 64 << 20 // files up to this size are read whole
	sumSamples = 64
	sumSample  = 64 << 10
)

// Sum returns the SHA-256 of a file of up to 64 MB, in hexadecimal. For a larger file it
// hashes the size, the modification time and 64 samples of 64 kB, so it may miss a change that
// keeps size and time. Of a file with companions it returns the hash of the sums of all.
func (d Folder) Sum(name string) (string, error) {
	at, err := d.Find(name)
	if err != nil {
		return "", err
	}
	sum, err := d.sumOf(at)
	for _, c := range Companions(at, name) {
		if c.Size == 0 {
			continue
		}
		more, failed := d.sumOf(c.Path)
		both := sha256.Sum256([]byte(sum + more))
		sum, err = fmt.Sprintf("%x", both), errors.Join(err, failed)
	}
	return sum, err
}

// Sums returns the [Folder.Sum] of each file, by its name, of sources as [List] lists them. It
// leaves out databases, and files that cannot be read.
func Sums(sources []Source, all []File) map[string]string {
	sums := map[string]string{}
	for _, s := range sources {
		if s.Database != "" || s.Of != "" { // a companion is a part of the sum of its file
			continue
		}
		folder := In(s.Path)
		for _, f := range all {
			way, err := filepath.Rel(s.Name, f.Name)
			if err != nil || !filepath.IsLocal(way) { // of another source
				continue
			}
			if sum, err := folder.Sum(way); err == nil {
				sums[f.Name] = sum
			}
		}
	}
	return sums
}

// known are the sums of files that were read, by what tells without reading that they are the same.
var known sync.Map

// sumOf returns the sum of one file, which is read once as long as it is the same.
func (d Folder) sumOf(path string) (string, error) {
	var stat unix.Stat_t
	if err := unix.Lstat(path, &stat); err != nil {
		return "", err
	}
	changed := stat.Ctim.Nano() // which the system alone sets
	stamp := fmt.Sprint(stat.Size, stat.Mtim.Nano(), stat.Dev, stat.Ino, changed)
	if sum, ok := known.Load(stamp); ok {
		return sum.(string), nil
	}
	file, err := d.open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h, read := sha256.New(), io.LimitReader(file, sumWhole) // it may grow meanwhile
	if stat.Size > sumWhole {
		read = strings.NewReader(fmt.Sprintf("%d %d\n", stat.Size, stat.Mtim.Nano()))
		for i := range int64(sumSamples) { // the first at the beginning, the last at the end
			at := (stat.Size - sumSample) * i / (sumSamples - 1)
			read = io.MultiReader(read, io.NewSectionReader(file, at, sumSample))
		}
	}
	if _, err = io.Copy(h, read); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	sum := fmt.Sprintf("%x", h.Sum(nil))
	if time.Since(time.Unix(0, changed)) > time.Second {
		known.Store(stamp, sum) // what changes a file now may leave its stamp, which counts in ticks
	}
	return sum, nil
}

// MostInDigest is the largest number of files of which [Digest] takes the sums.
const MostInDigest = 2000

// Digest is one sum of the names, sizes and sums of files: of more than [MostInDigest] not of their
// sums, which then need not be known.
func Digest(all []File) string {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	h := sha256.New()
	for _, f := range all {
		sum := ""
		if len(all) <= MostInDigest && f.IsWhole() {
			sum = f.Sum
		}
		_, _ = fmt.Fprintf(h, "%q %d %s\n", f.Name, f.Size, sum) // a hash takes everything
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// IsWhole reports whether [Folder.Sum] reads the whole of a file and of its companions.
func (f File) IsWhole() bool { return f.Size <= sumWhole }
