// npm run icon: draws media/icon.png, 128 by 128, and media/sextant.svg, both from the same shapes.
//
// A sextant: a frame of two legs, the arc with its scale, the index arm that reads an angle, and the star it is set on.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32, deflateSync } from 'node:zlib'

const MEDIA = join(import.meta.dirname, '..', 'media')
const SIZE = 128
const SAMPLES = 4

const SKY = [[16, 35, 58], [24, 62, 92]]
const BRASS = [236, 190, 98]
const LIGHT = [255, 246, 220]

/** In the 128 units of the icon. The arc is centred on the pivot; angles in degrees from straight down. */
const PIVOT = [58, 26]
const RADIUS = 76
const SPAN = 34
const ARM = 14
const STAR = [102, 30]

const onArc = (degrees, radius = RADIUS) => [
  PIVOT[0] + radius * Math.sin(degrees * Math.PI / 180),
  PIVOT[1] + radius * Math.cos(degrees * Math.PI / 180),
]
const TICKS = [-28, -20, -12, -4, 4, 12, 20, 28]

/** Each with its distance to a point, below 0 inside. Later ones lie on top. */
const SHAPES = [
  { colour: BRASS, distance: segment(PIVOT, onArc(-SPAN), 3) },
  { colour: BRASS, distance: segment(PIVOT, onArc(SPAN), 3) },
  { colour: BRASS, distance: segment(onArc(-SPAN, 46), onArc(SPAN, 46), 2) },
  { colour: BRASS, distance: arc(4.5) },
  ...TICKS.map((angle) => ({ colour: SKY[1], distance: segment(onArc(angle, RADIUS - 3), onArc(angle, RADIUS + 2), 0.9) })),
  { colour: LIGHT, distance: segment(PIVOT, onArc(ARM, RADIUS + 7), 3) },
  { colour: LIGHT, distance: disc(PIVOT, 7) },
  { colour: SKY[0], distance: disc(PIVOT, 2.6) },
  { colour: LIGHT, distance: disc(onArc(ARM, RADIUS + 9), 4.6) },
  { colour: LIGHT, distance: star(STAR, 13) },
]

writeFileSync(join(MEDIA, 'icon.png'), png(SIZE, pixel))
writeFileSync(join(MEDIA, 'sextant.svg'), svg())

/** The colour of a pixel with its opacity, from several points within it. */
function pixel(x, y) {
  const sum = [0, 0, 0, 0]
  for (let sample = 0; sample < SAMPLES * SAMPLES; sample++) {
    const point = [x + (sample % SAMPLES + 0.5) / SAMPLES, y + (Math.floor(sample / SAMPLES) + 0.5) / SAMPLES]
    if (roundedSquare(point) > 0) continue
    const colour = SHAPES.findLast(({ distance }) => distance(point) <= 0)?.colour ?? mix(SKY[1], SKY[0], point[1] / SIZE)
    colour.forEach((value, channel) => { sum[channel] += value })
    sum[3] += 1
  }
  const n = sum[3]
  return n === 0 ? [0, 0, 0, 0] : [...sum.slice(0, 3).map((value) => Math.round(value / n)), Math.round(255 * n / SAMPLES ** 2)]
}

function mix(from, to, share) {
  return from.map((value, channel) => value + (to[channel] - value) * share)
}

function roundedSquare([x, y]) {
  const corner = 26
  const outside = [x, y].map((value) => Math.max(0, Math.abs(value - SIZE / 2) - (SIZE / 2 - corner)))
  return Math.hypot(...outside) - corner
}

function disc([cx, cy], radius) {
  return ([x, y]) => Math.hypot(x - cx, y - cy) - radius
}

function segment([ax, ay], [bx, by], halfWidth) {
  const [dx, dy] = [bx - ax, by - ay]
  return ([x, y]) => {
    const along = Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy)))
    return Math.hypot(x - ax - along * dx, y - ay - along * dy) - halfWidth
  }
}

function arc(halfWidth) {
  const ends = [onArc(-SPAN), onArc(SPAN)].map((end) => disc(end, halfWidth))
  return (point) => {
    const angle = Math.atan2(point[0] - PIVOT[0], point[1] - PIVOT[1]) * 180 / Math.PI
    const ring = Math.abs(Math.hypot(point[0] - PIVOT[0], point[1] - PIVOT[1]) - RADIUS) - halfWidth
    return Math.abs(angle) <= SPAN ? ring : Math.min(...ends.map((end) => end(point)))
  }
}

/** Four rays, drawn in by their middles. */
function star([cx, cy], reach) {
  return ([x, y]) => {
    const [u, v] = [Math.abs(x - cx) / reach, Math.abs(y - cy) / reach]
    return Math.sqrt(u) + Math.sqrt(v) - 1
  }
}

function png(size, colourAt) {
  const rows = Buffer.alloc(size * (size * 4 + 1))
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      rows.set(colourAt(x, y), y * (size * 4 + 1) + 1 + x * 4)
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(size, 0)
  header.writeUInt32BE(size, 4)
  header.set([8, 6, 0, 0, 0], 8)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(rows, { level: 9 })), chunk('IEND', Buffer.alloc(0))])
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const framed = Buffer.alloc(body.length + 8)
  framed.writeUInt32BE(data.length, 0)
  body.copy(framed, 4)
  framed.writeUInt32BE(crc32(body), body.length + 4)
  return framed
}

/** For the activity bar: one colour, 24 by 24, the lines alone. */
function svg() {
  const scale = (value) => Number((value * 24 / SIZE).toFixed(2))
  const at = ([x, y]) => `${scale(x)} ${scale(y)}`
  const paths = [
    `M${at(onArc(-SPAN))}L${at(PIVOT)}L${at(onArc(SPAN))}`,
    `M${at(onArc(-SPAN))}A${scale(RADIUS)} ${scale(RADIUS)} 0 0 0 ${at(onArc(SPAN))}`,
    `M${at(onArc(-SPAN, 46))}L${at(onArc(SPAN, 46))}`,
    `M${at(PIVOT)}L${at(onArc(ARM, RADIUS + 9))}`,
  ]
  const [x, y] = STAR.map(scale)
  const rays = `M${x} ${y - 2.6}Q${x} ${y} ${x + 2.6} ${y}Q${x} ${y} ${x} ${y + 2.6}Q${x} ${y} ${x - 2.6} ${y}Q${x} ${y} ${x} ${y - 2.6}Z`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round">
  <path d="${paths.join('')}"/>
  <circle cx="${scale(PIVOT[0])}" cy="${scale(PIVOT[1])}" r="1.3" fill="currentColor"/>
  <path d="${rays}" fill="currentColor" stroke-width=".6"/>
</svg>
`
}
