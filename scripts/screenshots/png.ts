// Pictures of pages have few colours: with a palette of 256 a PNG is a third of what a browser writes.
import { crc32, deflateSync, inflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])
const COLOURS = 256

/** Takes what Chromium writes: eight bits for each of three or four channels, not interlaced. */
export function withPalette(png: Buffer): Buffer {
  const { width, height, channels, pixels } = decode(png)
  const counts = new Map<number, number>()
  const colourAt = (pixel: number) => pixels.readUIntBE(pixel * channels, 3)
  for (let pixel = 0; pixel < width * height; pixel++)
    counts.set(colourAt(pixel), (counts.get(colourAt(pixel)) ?? 0) + 1)
  const palette = [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, COLOURS)
    .map(([colour]) => colour)
  const indexes = new Map<number, number>()
  for (const colour of counts.keys()) indexes.set(colour, nearest(palette, colour))
  const rows = Buffer.alloc(height * (width + 1))
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) rows[y * (width + 1) + 1 + x] = indexes.get(colourAt(y * width + x))!
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3, 0, 0, 0], 8)
  const colours = Buffer.alloc(palette.length * 3)
  for (const [index, colour] of palette.entries()) colours.writeUIntBE(colour, index * 3, 3)
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function nearest(palette: number[], colour: number): number {
  let [best, least] = [0, Infinity]
  for (const [index, other] of palette.entries()) {
    const distance = [16, 8, 0].reduce(
      (sum, bits) => sum + (((colour >> bits) & 255) - ((other >> bits) & 255)) ** 2,
      0,
    )
    if (distance < least) [best, least] = [index, distance]
    if (distance === 0) break
  }
  return best
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}

function decode(png: Buffer) {
  let [width, height, channels] = [0, 0, 0]
  const data: Buffer[] = []
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at)
    const type = png.toString('latin1', at + 4, at + 8)
    const body = png.subarray(at + 8, at + 8 + length)
    if (type === 'IHDR') {
      width = body.readUInt32BE(0)
      height = body.readUInt32BE(4)
      channels = body[9] === 6 ? 4 : 3
    }
    if (type === 'IDAT') data.push(body)
    at += length + 12
  }
  const raw = inflateSync(Buffer.concat(data))
  const stride = width * channels
  const pixels = Buffer.alloc(height * stride)
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)]!
    for (let x = 0; x < stride; x++) {
      const left = x >= channels ? pixels[y * stride + x - channels]! : 0
      const up = y > 0 ? pixels[(y - 1) * stride + x]! : 0
      const corner = x >= channels && y > 0 ? pixels[(y - 1) * stride + x - channels]! : 0
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter]!
      pixels[y * stride + x] = raw[y * (stride + 1) + 1 + x]! + guess
    }
  }
  return { width, height, channels, pixels }
}

function paeth(left: number, up: number, corner: number): number {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)]
  return a <= b && a <= c ? left : b <= c ? up : corner
}
