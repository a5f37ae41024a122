package kerneltest
// placeholder
func Main([]string) bool { return false }
